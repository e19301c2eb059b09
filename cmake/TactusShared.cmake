# libtactus.so: one shared library with everything that the static libraries hold, linked from their objects. It exports
# what TAC_API marks (base/api.h); the version script is the second lock and gives the symbols their version. Before 1.0
# a minor version may change an interface, so major and minor version are in the SONAME.
get_property(TACTUS_SHARED_OBJECTS GLOBAL PROPERTY TACTUS_OBJECTS)
get_property(TACTUS_SHARED_SYSTEM GLOBAL PROPERTY TACTUS_SYSTEM)
list(REMOVE_DUPLICATES TACTUS_SHARED_SYSTEM)

set(TACTUS_ABI ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(TACTUS_VERSION_SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/libtactus.map)
file(CONFIGURE OUTPUT ${TACTUS_VERSION_SCRIPT} @ONLY CONTENT [[
TACTUS_@TACTUS_ABI@ {
	global: tac_*;
	local: *;
};
]])

add_library(tactus_shared SHARED ${TACTUS_SHARED_OBJECTS})
add_library(tactus::shared ALIAS tactus_shared)
set_target_properties(tactus_shared PROPERTIES
	EXPORT_NAME shared
	OUTPUT_NAME tactus
	LINKER_LANGUAGE C
	VERSION ${PROJECT_VERSION}
	SOVERSION ${TACTUS_ABI}
	LINK_DEPENDS ${TACTUS_VERSION_SCRIPT}
	# Where it lies in relation to libexec/ when installed, so that it finds its programs in the build tree, too.
	LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_include_directories(tactus_shared INTERFACE
	$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
	$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tactus>)
target_compile_definitions(tactus_shared INTERFACE
	$<$<NOT:$<BOOL:${TACTUS_ASSERT}>>:TAC_NO_ASSERT>
	$<$<NOT:$<BOOL:${TACTUS_SIMD}>>:TAC_NO_SIMD>)
target_link_libraries(tactus_shared PRIVATE ${TACTUS_SHARED_SYSTEM})
# Inline functions of the headers call sqrt, so a program needs libm itself.
target_link_libraries(tactus_shared INTERFACE m)
# -z defs: a library that lacks one of its own dependencies does not link here, instead of failing at its users.
target_link_options(tactus_shared PRIVATE
	LINKER:-z,defs "LINKER:--version-script=${TACTUS_VERSION_SCRIPT}")
foreach(program tactus-import tactus-elastic tactus-keep) # which the library starts
	if(TARGET ${program})
		add_dependencies(tactus_shared ${program})
	endif()
endforeach()
