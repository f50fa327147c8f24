import importlib
import flash_attn
import flash_attn as fa, os
import xformers.ops
from flash_attn import flash_attn_func
from flash_attn.bert_padding import pad_input, unpad_input as unpad
from apex.optimizers import *
from .flash_attn import attention
from torch.cuda import nvtx
import torch.cuda
from own_cuda import thing
import llama_cpp_cuda
a = importlib.import_module("llama_cpp_cuda")
b = importlib.import_module("flash_attn", "p")
c = import_module("flash_attn.x")
d = __import__("flash_attn")
e = importlib.import_module(name)
f = importlib.import_module("own")
import flash_attn; import flash_attn
if is_flash_attn_available():
    import flash_attn
else:
    import flash_attn
if torch.cuda.is_available():
    import flash_attn
try:
    import flash_attn
except ImportError:
    pass


def g():
    import flash_attn
    return flash_attn
