"""Other libraries' ways in: models of transformers with rocport's layers and operators, LoRA of PEFT on them."""
