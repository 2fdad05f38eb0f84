"""Why a row of a recursive view is there: absorption provenance, as Boolean functions of base rows.

"The paper" is, in this package, "Recursive Computation of Regions and Connectivity in Networks" (Liu, Taylor, Zhou, Ives, Loo).
"""
