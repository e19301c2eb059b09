# Writes OUTPUT, a C++ file that includes all C++ files of FOLDER: the names of Verilator's files are not known in advance.
file(GLOB files RELATIVE ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/${FOLDER}/*.cpp)
set(text "")
foreach(file IN LISTS files)
	string(APPEND text "#include \"${file}\"\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
