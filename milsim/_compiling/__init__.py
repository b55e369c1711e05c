"""From functions to machine code, behind `milsim._jit`.

`compiler` is all that needs numba, and is imported only where something is to be compiled;
`instructions` tells it what the functions of `milsim.bits` are; `native` keeps machine code and
calls it without numba.
"""
