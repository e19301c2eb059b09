# The board protocol: known bytes, and the corpus of its fuzzer. The fuzzer itself on request:
#   CC=clang cmake -DTACTUS_FUZZ=ON -DTACTUS_SANITIZE=address,undefined …; tests/fuzz_board FOLDER tests/fuzz/board
tactus_test(board_protocol tactus::devices)

add_executable(test_board_corpus fuzz/replay.c fuzz/fuzz_board.c)
target_link_libraries(test_board_corpus PRIVATE tactus_options tactus::devices)
add_test(NAME ${TACTUS_TEST_PREFIX}board_corpus COMMAND test_board_corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/board)
set_tests_properties(${TACTUS_TEST_PREFIX}board_corpus PROPERTIES TIMEOUT 120 LABELS unit)
if(TACTUS_FUZZ)
	target_compile_options(tactus_devices PRIVATE -fsanitize=fuzzer-no-link)
	add_executable(fuzz_board fuzz/fuzz_board.c)
	target_compile_options(fuzz_board PRIVATE -fsanitize=fuzzer)
	target_link_options(fuzz_board PRIVATE -fsanitize=fuzzer)
	target_link_libraries(fuzz_board PRIVATE tactus_options tactus::devices)
endif()
