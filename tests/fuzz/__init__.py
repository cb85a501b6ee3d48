"""Bytes by chance through every parser of what others send: nothing may end, stall or fill the process.

make fuzz FUZZ_SECONDS=3600          # an hour; writes bench/results/fuzz.md
python -m tests.fuzz --seconds 60 --only promql
python -m tests.fuzz --replay build/fuzz/promql-1a2b3c4d.bin --only promql
"""
