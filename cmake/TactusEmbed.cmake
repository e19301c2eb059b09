# tactus_embed(TARGET FILE…): each file as a C array in a header of the build tree. apps/report/report.css becomes
# `static const unsigned char report_css[]` in "apps/report/report.css.h".
function(tactus_embed target)
	foreach(file IN LISTS ARGN)
		set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
		set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
		file(READ ${source} bytes HEX)
		string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
		string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
		cmake_path(GET file FILENAME name)
		string(MAKE_C_IDENTIFIER ${name} name)
		cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
		file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/embedded/${folder}/${file}.h
			CONTENT "static const unsigned char ${name}[] = {\n${bytes}\n};\n")
	endforeach()
	target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/embedded)
endfunction()
