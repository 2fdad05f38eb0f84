"""Published tests of SPARQL, answered from maintained state while their data come and go."""
