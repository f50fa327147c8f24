if "CUDA out of memory" in str(e):
    retry()
if "cuda out of memory" not in text:
    raise
if text == "CUDA error":
    pass
if text.startswith("CUDA error"):
    pass
if "CUDA error" in a in b:
    pass
if "cudaErrorMemoryAllocation" in text:
    pass
texts = ["CUDA out of memory.", "CUDNN_STATUS_NOT_SUPPORTED."]
ok = "CUDA out of memory" in s or "HIP out of memory" in s
both = "CUDA out of memory" in s and "CUDA error" not in s
raise RuntimeError("CUDA out of memory")
if any(x in text for x in ("CUDA error", "other")):
    pass
if f"CUDA error {n}" in text:
    pass
if "CUDA \x6fut of memory" in text:
    pass
if text in "CUDA error: many":
    pass
if re.search("CUDA out of memory", text):
    pass
