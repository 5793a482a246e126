# WAFER_PYTHON: the Python package openwafer, by default where pybind11 is there. Sanitizers would
# have to be loaded into Python itself, so such builds go without.
if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3)  # whose pybind11 and pytest the system's packages are
endif()
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  set(PYBIND11_FINDPYTHON ON)
  find_package(pybind11 CONFIG QUIET)
endif()
set(python_default OFF)
if(pybind11_FOUND AND NOT WAFER_SANITIZE)
  set(python_default ON)
endif()
option(WAFER_PYTHON "Build the Python package openwafer (needs pybind11)" ${python_default})
if(WAFER_PYTHON AND NOT pybind11_FOUND)
  message(FATAL_ERROR "WAFER_PYTHON needs Python's headers and pybind11: "
                      "apt-get install python3-dev pybind11-dev, or pip install .")
endif()
# Below the prefix; scikit-build-core makes a wheel of what lies in ".".
set(WAFER_PYTHON_DIR lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages)
if(SKBUILD)
  set(WAFER_PYTHON_DIR .)
endif()
