# tactus_unity: the Unity test framework (ThrowTheSwitch; any version from 2.4 on), from the first of
# -DUNITY_ROOT (or the environment variable of that name): a folder with unity.c in it or in its src/;
# an installed CMake package `unity`; Debian's source package ntpsec, by cmake/fetch-unity.
set(UNITY_ROOT "$ENV{UNITY_ROOT}" CACHE PATH "Folder that holds unity.c, or src/unity.c")

# An installed Unity may have been built without doubles; the tests need them.
function(tactus_unity_installed out_usable)
	set(${out_usable} FALSE PARENT_SCOPE)
	find_package(unity CONFIG QUIET)
	if(NOT TARGET unity::framework)
		return()
	endif()
	include(CheckCSourceCompiles)
	set(CMAKE_REQUIRED_LIBRARIES unity::framework)
	set(CMAKE_REQUIRED_DEFINITIONS -DUNITY_INCLUDE_DOUBLE)
	set(CMAKE_REQUIRED_QUIET TRUE)
	check_c_source_compiles("
		#include <unity.h>
		void setUp(void) {}
		void tearDown(void) {}
		int main(void) { TEST_ASSERT_DOUBLE_WITHIN(0.5, 1.0, 1.0); return 0; }" TACTUS_UNITY_HAS_DOUBLE)
	set(${out_usable} ${TACTUS_UNITY_HAS_DOUBLE} PARENT_SCOPE)
endfunction()

# TACTUS_UNITY_SOURCE: the folder, for a test that compiles Unity for another processor.
function(tactus_unity_from folder)
	set(TACTUS_UNITY_SOURCE "${folder}" PARENT_SCOPE)
	add_library(tactus_unity STATIC "${folder}/unity.c")
	target_include_directories(tactus_unity SYSTEM PUBLIC "${folder}")
	target_compile_definitions(tactus_unity PUBLIC UNITY_INCLUDE_DOUBLE UNITY_SUPPORT_64)
endfunction()

if(UNITY_ROOT)
	if(EXISTS "${UNITY_ROOT}/unity.c")
		tactus_unity_from("${UNITY_ROOT}")
	elseif(EXISTS "${UNITY_ROOT}/src/unity.c")
		tactus_unity_from("${UNITY_ROOT}/src")
	else()
		message(FATAL_ERROR "UNITY_ROOT=${UNITY_ROOT} holds neither unity.c nor src/unity.c")
	endif()
	return()
endif()

tactus_unity_installed(TACTUS_UNITY_INSTALLED)
if(TACTUS_UNITY_INSTALLED)
	add_library(tactus_unity INTERFACE)
	target_link_libraries(tactus_unity INTERFACE unity::framework)
	target_compile_definitions(tactus_unity INTERFACE UNITY_INCLUDE_DOUBLE UNITY_SUPPORT_64)
	return()
endif()

# One copy for all builds under build/; a build elsewhere keeps its own and leaves the source folder alone.
cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${PROJECT_BINARY_DIR}" TACTUS_UNITY_SHARED)
if(TACTUS_UNITY_SHARED)
	set(TACTUS_UNITY_DIR "${PROJECT_SOURCE_DIR}/build/unity")
else()
	set(TACTUS_UNITY_DIR "${PROJECT_BINARY_DIR}/unity")
endif()
if(NOT EXISTS "${TACTUS_UNITY_DIR}/unity.c")
	message(NOTICE "fetching the Unity test framework: Debian's source package ntpsec, some 12 MB")
	execute_process(COMMAND "${PROJECT_SOURCE_DIR}/cmake/fetch-unity" "${TACTUS_UNITY_DIR}"
		RESULT_VARIABLE TACTUS_UNITY_RESULT ERROR_VARIABLE TACTUS_UNITY_ERROR ERROR_STRIP_TRAILING_WHITESPACE)
	if(NOT TACTUS_UNITY_RESULT EQUAL 0)
		message(FATAL_ERROR " ${TACTUS_UNITY_ERROR}") # the space keeps it on one line
	endif()
endif()
tactus_unity_from("${TACTUS_UNITY_DIR}")
