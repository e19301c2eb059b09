# test_trace leaves its traces in trace/ for an independent parser.
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/trace)
target_compile_definitions(test_trace PRIVATE TEST_TRACE_DIR="${CMAKE_CURRENT_BINARY_DIR}/trace")
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
	add_test(NAME ${TACTUS_TEST_PREFIX}trace_json COMMAND ${Python3_EXECUTABLE}
		${CMAKE_CURRENT_SOURCE_DIR}/validate_trace.py ${CMAKE_CURRENT_BINARY_DIR}/trace)
	set_tests_properties(${TACTUS_TEST_PREFIX}trace PROPERTIES FIXTURES_SETUP ${TACTUS_TEST_PREFIX}traces)
	set_tests_properties(${TACTUS_TEST_PREFIX}trace_json PROPERTIES
		FIXTURES_REQUIRED ${TACTUS_TEST_PREFIX}traces TIMEOUT 120 LABELS unit)
else()
	message(STATUS "Test trace_json left out: no python3")
endif()

# The probes are in the program, with their arguments.
find_program(TACTUS_READELF NAMES readelf llvm-readelf)
if(TACTUS_HAVE_SDT AND TACTUS_READELF)
	add_test(NAME ${TACTUS_TEST_PREFIX}probes COMMAND ${CMAKE_COMMAND} -DREADELF=${TACTUS_READELF}
		-DPROGRAM=$<TARGET_FILE:tactus> -P ${CMAKE_CURRENT_SOURCE_DIR}/probes.cmake)
	set_tests_properties(${TACTUS_TEST_PREFIX}probes PROPERTIES TIMEOUT 60 LABELS unit)
else()
	message(STATUS "Test probes left out: no <sys/sdt.h> (systemtap-sdt-dev) or no readelf")
endif()
