# test_trace leaves its traces in trace/, where an independent parser reads them.
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/trace)
target_compile_definitions(test_trace PRIVATE TEST_TRACE_DIR="${CMAKE_CURRENT_BINARY_DIR}/trace")
if(Python3_FOUND)
	tactus_add_test(trace_json LABEL unit COMMAND ${Python3_EXECUTABLE}
		${TACTUS_TEST_ROOT}/system/validate_trace.py ${CMAKE_CURRENT_BINARY_DIR}/trace)
	if(TEST ${TACTUS_TEST_PREFIX}trace)
		set_tests_properties(${TACTUS_TEST_PREFIX}trace PROPERTIES FIXTURES_SETUP ${TACTUS_TEST_PREFIX}traces)
		set_tests_properties(${TACTUS_TEST_PREFIX}trace_json PROPERTIES FIXTURES_REQUIRED ${TACTUS_TEST_PREFIX}traces)
	endif()
else()
	message(STATUS "Test trace_json left out: no python3")
endif()

# The probes are in the program, with their arguments.
find_program(TACTUS_READELF NAMES readelf llvm-readelf)
if(TACTUS_HAVE_SDT AND TACTUS_READELF)
	tactus_add_test(probes LABEL unit TARGETS tactus COMMAND ${CMAKE_COMMAND} -DREADELF=${TACTUS_READELF}
		-DPROGRAM=$<TARGET_FILE:tactus> -P ${CMAKE_CURRENT_SOURCE_DIR}/probes.cmake)
else()
	message(STATUS "Test probes left out: no <sys/sdt.h> (systemtap-sdt-dev) or no readelf")
endif()
