# cpack: the Debian packages tactus (program, helpers, udev rules, limits, manual page, completion, pages, examples) and
# libtactus-dev (headers, static libraries, libtactus.so, CMake package, pkg-config files):
#	cmake --build build/release && cpack --config build/release/CPackConfig.cmake -B FOLDER
install(FILES packaging/70-tactus.rules DESTINATION lib/udev/rules.d COMPONENT tactus)
install(FILES packaging/tactus.sysusers DESTINATION lib/sysusers.d COMPONENT tactus RENAME tactus.conf)
install(FILES packaging/tactus.limits DESTINATION ${CMAKE_INSTALL_DATADIR}/tactus COMPONENT tactus RENAME limits.conf)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tactus)
set(CPACK_PACKAGE_CONTACT "The Tactus authors <tactus@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tactus dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_TACTUS_PACKAGE_NAME tactus)
set(CPACK_DEBIAN_TACTUS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TACTUS_PACKAGE_CONTROL_EXTRA
	"${PROJECT_SOURCE_DIR}/packaging/postinst;${PROJECT_SOURCE_DIR}/packaging/postrm")
set(CPACK_COMPONENT_TACTUS_DESCRIPTION "Hard-real-time force-feedback runtime
 Reads a haptic device every millisecond, moves the tool among meshes without letting it penetrate them, and returns
 force and torque. Reports the cause of every missed deadline.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtactus-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libusb-1.0-0-dev, libyaml-dev, tactus")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Hard-real-time force-feedback runtime, development files
 Headers, static libraries, the shared library, a CMake package and pkg-config files.")
include(CPack)
