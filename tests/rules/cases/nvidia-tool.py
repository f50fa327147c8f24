import shutil
import subprocess
import pynvml
import nvidia_smi, other
from py3nvml import py3nvml as nvml
from .pynvml import x

pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(0)
nvml.nvmlDeviceGetNvLinkState(handle, 0)
nvmlShutdown()
other.nvmlShutdown()
ok = shutil.which("nvidia-smi") is not None
ok = find("nvidia-smi")
subprocess.run(["nvidia-smi", "-L"])
subprocess.run("nvidia-smi -L", shell=True)
names = {"nvidia-smi": 3}
there = importlib.util.find_spec("pynvml")
text = "pynvml"
shutil.which("nvidia-smi"), shutil.which("nvidia-smi")
try:
    import pynvml
except ImportError:
    pynvml = None
