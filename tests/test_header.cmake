# Every public header compiles alone: as C17 and, where there is a C++ compiler, as C++17. Each becomes a file
# that includes it twice and nothing else, so a failing build names the header (header/c/base/arena.h.c).
file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
	${PROJECT_SOURCE_DIR}/base/*.h ${PROJECT_SOURCE_DIR}/rt/*.h ${PROJECT_SOURCE_DIR}/collision/*.h
	${PROJECT_SOURCE_DIR}/haptic/*.h ${PROJECT_SOURCE_DIR}/devices/*.h)

# What libraries share inside is not public, and not C++.
list(FILTER headers EXCLUDE REGEX "_private\\.h$")

include(CheckLanguage)
check_language(CXX)
set(languages c)
if(CMAKE_CXX_COMPILER)
	enable_language(CXX)
	list(APPEND languages cpp)
else()
	message(STATUS "No C++ compiler: the headers are tested as C17 only")
endif()

foreach(language IN LISTS languages)
	set(sources)
	foreach(header IN LISTS headers)
		set(source ${CMAKE_CURRENT_BINARY_DIR}/header/${language}/${header}.${language})
		# The guard must hold the second time; the typedef keeps a header of macros from being empty.
		file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
			"#include \"@header@\"\n#include \"@header@\"\n\ntypedef int header_compiles_alone;\n")
		list(APPEND sources ${source})
	endforeach()
	add_library(header_${language} OBJECT ${sources})
	target_include_directories(header_${language} PRIVATE ${PROJECT_SOURCE_DIR})
	target_link_libraries(header_${language} PRIVATE tactus_options)
endforeach()
if(TARGET header_cpp)
	set_target_properties(header_cpp PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
	target_compile_options(header_cpp PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion
		-Wdouble-promotion -Wshadow -Wundef)
endif()
