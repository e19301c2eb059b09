# Tests of the project rather than of a module. They run once, in the build whose tests have no prefix.
function(tactus_check name)
	add_test(NAME ${name} COMMAND ${ARGN})
	set_tests_properties(${name} PROPERTIES LABELS project TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()

if(NOT TACTUS_TEST_PREFIX)
	tactus_check(layers "${PROJECT_SOURCE_DIR}/tests/layers" "${PROJECT_SOURCE_DIR}")
	tactus_check(format "${PROJECT_SOURCE_DIR}/tests/format" "${PROJECT_SOURCE_DIR}")
	tactus_check(scripts "${PROJECT_SOURCE_DIR}/tests/scripts" "${PROJECT_SOURCE_DIR}")
	if(NOT TACTUS_SANITIZE)
		if(TACTUS_UNITY_SOURCE)
			tactus_check(neon "${PROJECT_SOURCE_DIR}/tests/neon" "${PROJECT_SOURCE_DIR}"
				"${TACTUS_UNITY_SOURCE}" "${PROJECT_BINARY_DIR}/neon")
		else()
			message(STATUS "Test neon left out: the installed Unity has no sources")
		endif()
		tactus_check(consumer "${PROJECT_SOURCE_DIR}/tests/consumer/check" "${PROJECT_SOURCE_DIR}"
			"${PROJECT_BINARY_DIR}" "${CMAKE_COMMAND}" "${CMAKE_C_COMPILER}")
	endif()
endif()
