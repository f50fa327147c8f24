import os

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
os.environ.pop("CUDA_VISIBLE_DEVICES")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "1")
del os.environ["CUDA_VISIBLE_DEVICES"]
old = os.environ.get("CUDA_VISIBLE_DEVICES")
os.environ["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"] = "1"
names = ["CUDA_VISIBLE_DEVICES", "PATH"]
names = ("RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES",)
env = {"CUDA_VISIBLE_DEVICES": "0"}
first = second = os.environ["CUDA_VISIBLE_DEVICES"]
os.environ["CUDA_VISIBLE_DEVICES"] += ",1"
print("set CUDA_VISIBLE_DEVICES")
run(env=dict(os.environ, CUDA_VISIBLE_DEVICES="3"))
if "CUDA_VISIBLE_DEVICES" in os.environ:
    os.putenv("CUDA_VISIBLE_DEVICES", "2")
monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2")
