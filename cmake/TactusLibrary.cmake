# tactus_options: the compile options of everything in the project, linked privately by each target.
find_package(Threads REQUIRED)

add_library(tactus_options INTERFACE)
target_compile_options(tactus_options INTERFACE
	# One rounding per written operation, on every machine and in every SIMD variant: replays are
	# bit-identical, and Pluecker coordinates of a reversed line are exactly negated.
	-ffp-contract=off
	$<$<COMPILE_LANGUAGE:C>:
		-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow -Wundef -Wvla
		-Wcast-align -Wcast-qual -Wwrite-strings -Wpointer-arith -Wformat=2 -Wimplicit-fallthrough
		-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>
	$<$<BOOL:${TACTUS_WERROR}>:-Werror>)
# Linux interfaces (scheduling, thread ids, CPU sets) are GNU extensions of the headers, not of the language.
target_compile_definitions(tactus_options INTERFACE _GNU_SOURCE)

if(TACTUS_SANITIZE)
	target_compile_options(tactus_options INTERFACE
		-fsanitize=${TACTUS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(tactus_options INTERFACE -fsanitize=${TACTUS_SANITIZE})
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		# gcc 12 takes an instrumented pointer to an inner array for one to the structure's first member.
		target_compile_options(tactus_options INTERFACE -Wno-stringop-overread)
	endif()
endif()

# tactus_library(NAME SOURCES a.c … [LINK other_folder …] [SYSTEM library …]): the folder NAME as the static
# library tactus_NAME, alias tactus::NAME. LINK names the folders whose headers it may include, SYSTEM what it
# needs from outside (cmake/TactusInstall.cmake tells consumers how to find that).
function(tactus_library name)
	cmake_parse_arguments(LIB "" "" "SOURCES;LINK;SYSTEM" ${ARGN})
	add_library(tactus_${name} STATIC ${LIB_SOURCES})
	add_library(tactus::${name} ALIAS tactus_${name})
	# Position-independent and hidden but for TAC_API: libtactus.so is linked from the same objects.
	set_target_properties(tactus_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
		C_VISIBILITY_PRESET hidden)
	target_include_directories(tactus_${name} PUBLIC
		$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
		$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tactus>)
	target_link_libraries(tactus_${name} PRIVATE $<BUILD_INTERFACE:tactus_options>)
	foreach(other IN LISTS LIB_LINK)
		target_link_libraries(tactus_${name} PUBLIC tactus_${other})
	endforeach()
	target_link_libraries(tactus_${name} PUBLIC ${LIB_SYSTEM})
	if(NOT TACTUS_ASSERT)
		target_compile_definitions(tactus_${name} PUBLIC TAC_NO_ASSERT)
	endif()
	if(NOT TACTUS_SIMD)
		target_compile_definitions(tactus_${name} PUBLIC TAC_NO_SIMD)
	endif()
	set_property(GLOBAL APPEND PROPERTY TACTUS_LIBRARIES ${name})
	set_property(GLOBAL APPEND PROPERTY TACTUS_OBJECTS $<TARGET_OBJECTS:tactus_${name}>)
	set_property(GLOBAL APPEND PROPERTY TACTUS_SYSTEM ${LIB_SYSTEM})
endfunction()
