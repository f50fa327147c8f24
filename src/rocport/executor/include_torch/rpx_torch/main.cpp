// SPDX-License-Identifier: Apache-2.0
// A Python interpreter with the extension's modules, and the executor's runtime, built in: kernels and their shared memory
// then lie in the executable, where the runtime looks for them. ROCPORT_MODULES is a list of X("package.name", name).
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdio>
#include <cstdlib>

// An operator library has no module: its operators are registered when the program starts.
#define X(dotted, name) extern "C" PyObject *PyInit_##name() __attribute__((weak));
ROCPORT_MODULES
#undef X

#ifdef ROCPORT_SOURCE_LEVEL
namespace rpx {
void spare_static_lds();
}
#endif

int main(int argc, char **argv) {
#ifdef ROCPORT_SOURCE_LEVEL
  // PyTorch's headers keep thread-local variables, which live where the source-level executor keeps shared memory.
  rpx::spare_static_lds();
#endif
#define X(dotted, name) \
  if (PyInit_##name) PyImport_AppendInittab(dotted, PyInit_##name);
  ROCPORT_MODULES
#undef X
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  PyStatus status = PyConfig_SetBytesArgv(&config, argc, argv);
  // The interpreter of the environment that PyTorch is installed in: its folder decides what can be imported.
  const char *python = std::getenv("ROCPORT_PYTHON");
  if (!PyStatus_Exception(status) && python) status = PyConfig_SetBytesString(&config, &config.program_name, python);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
  if (PyRun_SimpleString("import rocport_device; rocport_device.install()")) return 2;
  return Py_RunMain();
}
