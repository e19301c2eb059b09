# cmake --install: the program, the static libraries, libtactus.so, their headers as include/tactus/FOLDER/*.h, a CMake
# package (find_package(tactus): tactus::base, tactus::rt, …, tactus::tactus for all, tactus::shared for libtactus.so) and
# two pkg-config files, tactus (static) and tactus-shared. None holds an absolute path, so the installed tree may be moved.
include(CMakePackageConfigHelpers)

get_property(TACTUS_FOLDERS GLOBAL PROPERTY TACTUS_LIBRARIES)
get_property(TACTUS_OUTSIDE GLOBAL PROPERTY TACTUS_SYSTEM)
list(REMOVE_DUPLICATES TACTUS_OUTSIDE)

# How a consumer finds what the libraries link from outside. Plain names are libraries of the C compiler's path.
set(TACTUS_FIND "")        # lines of the CMake package
set(TACTUS_PC_LIBS "")     # pkg-config: linker options
set(TACTUS_PC_REQUIRES "") # pkg-config: modules
foreach(library IN LISTS TACTUS_OUTSIDE)
	if(library STREQUAL Threads::Threads)
		string(APPEND TACTUS_FIND "find_dependency(Threads)\n")
		string(APPEND TACTUS_PC_LIBS " -pthread")
	elseif(library STREQUAL PkgConfig::LIBUSB)
		string(APPEND TACTUS_FIND "find_dependency(PkgConfig)\n"
			"pkg_check_modules(LIBUSB REQUIRED QUIET IMPORTED_TARGET libusb-1.0)\n")
		string(APPEND TACTUS_PC_REQUIRES " libusb-1.0")
	elseif(library MATCHES "^[a-z0-9_]+$")
		string(APPEND TACTUS_PC_LIBS " -l${library}")
	else()
		message(FATAL_ERROR "cmake/TactusInstall.cmake must say how a consumer finds ${library}")
	endif()
endforeach()

add_library(tactus_all INTERFACE)
add_library(tactus::tactus ALIAS tactus_all)
set_target_properties(tactus_all PROPERTIES EXPORT_NAME tactus)
install(TARGETS tactus_all EXPORT tactus COMPONENT dev)

# The libraries are static and may be installed anywhere; a program that links them finds their helper programs through
# its run path (base/search_path.h).
target_link_options(tactus_base INTERFACE
	$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBEXECDIR}/tactus>)

set(TACTUS_PC_FOLDERS "")
foreach(folder IN LISTS TACTUS_FOLDERS)
	target_link_libraries(tactus_all INTERFACE tactus_${folder})
	install(TARGETS tactus_${folder} EXPORT tactus COMPONENT dev)
	# The linker reads from left to right, so a folder comes before those it uses.
	string(PREPEND TACTUS_PC_FOLDERS " -ltactus_${folder}")
endforeach()

if(TARGET tactus_shared)
	install(TARGETS tactus_shared EXPORT tactus LIBRARY COMPONENT lib NAMELINK_COMPONENT dev)
	add_dependencies(tactus tactus_shared) # what is installed is there when the program alone was built
endif()

# Public headers are those in a folder itself; its sub-folders are private.
foreach(folder base rt collision devices tissue haptic)
	file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.h ${PROJECT_SOURCE_DIR}/${folder}/*.inl
		${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
	install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tactus/${folder} COMPONENT dev)
endforeach()

set(TACTUS_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tactus)
install(EXPORT tactus NAMESPACE tactus:: FILE tactus-targets.cmake DESTINATION ${TACTUS_PACKAGE_DIR}
	COMPONENT dev)
file(CONFIGURE OUTPUT tactus-config.cmake @ONLY CONTENT [[
include(CMakeFindDependencyMacro)
@TACTUS_FIND@include("${CMAKE_CURRENT_LIST_DIR}/tactus-targets.cmake")
]])
# Before 1.0 a minor version may change an interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tactus-config-version.cmake
	COMPATIBILITY SameMinorVersion)
install(FILES
	${CMAKE_CURRENT_BINARY_DIR}/tactus-config.cmake
	${CMAKE_CURRENT_BINARY_DIR}/tactus-config-version.cmake
	DESTINATION ${TACTUS_PACKAGE_DIR} COMPONENT dev)

if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
	set(TACTUS_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
	set(TACTUS_PC_LIBDIR "${CMAKE_INSTALL_FULL_LIBDIR}")
	set(TACTUS_PC_INCLUDEDIR "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
	set(TACTUS_PC_LIBEXECDIR "${CMAKE_INSTALL_FULL_LIBEXECDIR}/tactus")
else()
	file(RELATIVE_PATH TACTUS_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /)
	string(REGEX REPLACE "/$" "" TACTUS_PC_PREFIX "\${pcfiledir}/${TACTUS_PC_PREFIX}")
	set(TACTUS_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
	set(TACTUS_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
	set(TACTUS_PC_LIBEXECDIR "\${prefix}/${CMAKE_INSTALL_LIBEXECDIR}/tactus")
endif()
set(TACTUS_PC_CFLAGS "")
if(NOT TACTUS_ASSERT)
	string(APPEND TACTUS_PC_CFLAGS " -DTAC_NO_ASSERT")
endif()
if(NOT TACTUS_SIMD)
	string(APPEND TACTUS_PC_CFLAGS " -DTAC_NO_SIMD")
endif()
# What static libraries need belongs to every link, not to --static alone.
file(CONFIGURE OUTPUT tactus.pc @ONLY CONTENT [[
prefix=@TACTUS_PC_PREFIX@
libdir=@TACTUS_PC_LIBDIR@
includedir=@TACTUS_PC_INCLUDEDIR@

Name: tactus
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires:@TACTUS_PC_REQUIRES@
Cflags: -I${includedir}/tactus@TACTUS_PC_CFLAGS@
Libs: -L${libdir} -Wl,-rpath,@TACTUS_PC_LIBEXECDIR@@TACTUS_PC_FOLDERS@@TACTUS_PC_LIBS@
]])
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tactus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
if(TARGET tactus_shared)
	file(CONFIGURE OUTPUT tactus-shared.pc @ONLY CONTENT [[
prefix=@TACTUS_PC_PREFIX@
libdir=@TACTUS_PC_LIBDIR@
includedir=@TACTUS_PC_INCLUDEDIR@

Name: tactus-shared
Description: @PROJECT_DESCRIPTION@ (shared library)
Version: @PROJECT_VERSION@
Cflags: -I${includedir}/tactus@TACTUS_PC_CFLAGS@
Libs: -L${libdir} -ltactus -lm
]])
	install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tactus-shared.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
		COMPONENT dev)
endif()

# What --help and the pages cite: documentation with its pictures, and the examples as sources.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.svg
	${PROJECT_SOURCE_DIR}/docs/*.png ${PROJECT_SOURCE_DIR}/docs/*.c)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES README.md CHANGELOG.md LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/examples/*.c
	${PROJECT_SOURCE_DIR}/apps/examples/*.cpp)
install(FILES ${examples} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
