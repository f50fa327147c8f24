import shutil
import subprocess

out = subprocess.check_output([home + "/bin/nvcc", "-V"])
text = subprocess.check_output([home + "/bin/nvcc", "-V"]).decode().split()[3]
use(subprocess.run("nvcc -V", shell=True), 3)
print(os.popen("nvcc --version").read())
subprocess.run(["nvcc", "-V"])
subprocess.run(["gcc", "-V"])
if bare_metal_version < Version("11.6"):
    raise RuntimeError("too old")
if not bare_metal_version >= Version("11.6"):
    raise RuntimeError("too old")
assert nvcc_version >= "11"
if torch.version.cuda is not None and nvcc_version < "11":
    pass
if torch.version.cuda is not None or nvcc_version < "11":
    pass
if torch.version.cuda is not None:
    old = nvcc_version < "11"
if bare_metal_version != None:
    pass
if shutil.which("nvcc") is None:
    raise RuntimeError
if shutil.which("nvcc"):
    use(1)
path = os.path.join(CUDA_HOME, "bin", "nvcc")
path = "/usr/local/cuda/bin/nvcc"
args = {"cxx": ["-O3"], "nvcc": append_nvcc_threads(["-O3"])}
_, bare_metal = get_cuda_bare_metal_version(CUDA_HOME)
if CUDA_HOME is not None:
    late = get_cuda_bare_metal_version(CUDA_HOME)


def has_nvcc():
    try:
        subprocess.call(["nvcc"])
        return True
    except FileNotFoundError:
        return False


def one_answer():
    subprocess.call(["nvcc"])
    return True


def no_answer():
    subprocess.call(["nvcc"])
    return False


def append_nvcc_threads(args):
    n = get_nvcc_threads()
    return args + ["--threads", n]


def append_nvcc_more(args, more):
    if more:
        return more
    return args


def get_nvcc_release(home):
    return subprocess.check_output([home + "/bin/nvcc", "-V"])


def get_nvcc_for_cuda(home):
    if torch.version.hip:
        return None
    return subprocess.check_output([home + "/bin/nvcc", "-V"])


def build():
    a = 1
    b = 2
    c = 3
    d = 4
    e = 5
    f = 6
    g = 7
    h = 8
    subprocess.check_output(["nvcc", "-V"])
    return a + b + c + d + e + f + g + h


release = get_nvcc_release(HOME)
there = has_nvcc()
if has_nvcc():
    other = get_nvcc_for_cuda(HOME)
