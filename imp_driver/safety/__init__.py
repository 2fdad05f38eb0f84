"""4. Plan and sketched attributes -> is the answer the same on every superset of the sketch, and on what conditions?"""
