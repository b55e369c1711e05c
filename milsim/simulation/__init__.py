"""Playing the deals of a plan: what, by whom, in threads, chunk by chunk.

(Named after the verb's noun, since `milsim.simulate` is the function.)
"""
