"""What backs every claim about speed: ``python -m benchmarks NAME``."""
