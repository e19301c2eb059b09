# cpack: the Debian packages
#   tactus           the program, its helpers, udev rules, limits, the group realtime, manual page, completion, pages, examples
#   libtactus0.2     libtactus.so; major and minor version are in its name, as in the SONAME
#   libtactus-dev    headers, static libraries, CMake package, pkg-config files
#   tactus-share     the bridge, if Cyclone DDS is installed
#   python3-tactus   the Python package, if python3-cffi and setuptools are installed
#	cmake --build build/release && cpack --config build/release/CPackConfig.cmake -B FOLDER
install(FILES packaging/70-tactus.rules DESTINATION lib/udev/rules.d COMPONENT tactus)
install(FILES packaging/tactus.sysusers DESTINATION lib/sysusers.d COMPONENT tactus RENAME tactus.conf)
install(FILES packaging/tactus.limits DESTINATION ${CMAKE_INSTALL_DATADIR}/tactus COMPONENT tactus RENAME limits.conf)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tactus)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "hard-real-time force-feedback runtime")
set(CPACK_PACKAGE_CONTACT "The Tactus developers <tactus@tactus.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

# tactus_package(GROUP PACKAGE SECTION CONTENTS COMPONENT…): the components, and what packaging/package-files adds, in one
# package. The latter is a component of its own that `cmake --install` leaves out.
macro(tactus_package group package section contents)
	string(TOUPPER ${group} GROUP)
	install(CODE "execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/packaging/package-files\" \"${PROJECT_SOURCE_DIR}\" ${package}
		${PROJECT_VERSION} \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" COMMAND_ERROR_IS_FATAL ANY)"
		COMPONENT ${group}_zfiles EXCLUDE_FROM_ALL) # the last of its group in the alphabet, and so installed last
	foreach(component ${ARGN} ${group}_zfiles)
		list(APPEND CPACK_COMPONENTS_ALL ${component})
		string(TOUPPER ${component} COMPONENT)
		set(CPACK_COMPONENT_${COMPONENT}_GROUP ${group})
	endforeach()
	set(CPACK_DEBIAN_${GROUP}_DESCRIPTION "${TACTUS_DESCRIPTION}\n.\nThis package has ${contents}.")
	set(CPACK_DEBIAN_${GROUP}_PACKAGE_NAME ${package})
	set(CPACK_DEBIAN_${GROUP}_PACKAGE_SECTION ${section})
endmacro()
set(TACTUS_DESCRIPTION "Tactus reads a haptic device every millisecond, moves the tool among meshes
without letting it penetrate them, and returns force and torque. It reports
the cause of every missed deadline.")

tactus_package(tactus tactus science "the program and its helper programs" tactus)
set(CPACK_DEBIAN_TACTUS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TACTUS_PACKAGE_DEPENDS "passwd")
set(CPACK_DEBIAN_TACTUS_PACKAGE_CONTROL_EXTRA
	"${PROJECT_SOURCE_DIR}/packaging/postinst;${PROJECT_SOURCE_DIR}/packaging/postrm")

if(TARGET tactus-share)
	tactus_package(share tactus-share science "the bridge of tactus share" share)
	set(CPACK_DEBIAN_SHARE_PACKAGE_SHLIBDEPS ON)
	set(CPACK_DEBIAN_SHARE_PACKAGE_DEPENDS "tactus (= ${PROJECT_VERSION})")
	set(CPACK_DEBIAN_SHARE_PACKAGE_RECOMMENDS openssl) # tactus share --init-security
endif()

if(TARGET tactus_shared)
	tactus_package(lib libtactus${TACTUS_ABI} libs "the shared library" lib)
	set(CPACK_DEBIAN_LIB_PACKAGE_SHLIBDEPS ON)
	set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/triggers")
	# The library starts the helper programs: importer, keeper.
	set(CPACK_DEBIAN_LIB_PACKAGE_DEPENDS "tactus (= ${PROJECT_VERSION})")
	set(TACTUS_LIB_DEPENDS ", libtactus${TACTUS_ABI} (= ${PROJECT_VERSION})")
endif()

tactus_package(dev libtactus-dev libdevel "headers and static libraries" dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
	"libc6-dev, libusb-1.0-0-dev, libyaml-dev, tactus (= ${PROJECT_VERSION})${TACTUS_LIB_DEPENDS}")

if(TARGET tactus_shared AND EXISTS /usr/bin/python3)
	# Debian's own interpreter: the first on the PATH may be another.
	execute_process(COMMAND /usr/bin/python3 -c "import cffi, setuptools" RESULT_VARIABLE lacks OUTPUT_QUIET ERROR_QUIET)
	if(lacks EQUAL 0)
		install(CODE "execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/packaging/python-files\" \"${PROJECT_SOURCE_DIR}\"
			\"${PROJECT_BINARY_DIR}\" \"${CMAKE_COMMAND}\" /usr/bin/python3
			\"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" COMMAND_ERROR_IS_FATAL ANY)"
			COMPONENT python EXCLUDE_FROM_ALL)
		tactus_package(python python3-tactus python "the Python package" python)
		set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
			"python3 (>= 3.9), python3-numpy, python3-cffi-backend, libc6 (>= 2.34)${TACTUS_LIB_DEPENDS}")
	else()
		message(STATUS "Package python3-tactus left out: no python3-cffi or python3-setuptools")
	endif()
endif()
include(CPack)
