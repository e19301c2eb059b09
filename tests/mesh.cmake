# Meshes: building, shapes, files, and importers that misbehave.
tactus_test(mesh tactus::collision)
tactus_test(mesh_ply tactus::collision)
tactus_test(mesh_record tactus::collision)
tactus_test(mesh_shapes tactus::collision)

# Meshes whose licence keeps them out of this repository; tests that use them are ignored without them.
set(TACTUS_MESHES ${PROJECT_SOURCE_DIR}/../shared/meshes CACHE PATH "Folder of the reference meshes")

if(TARGET tactus-import)
	# It runs under the limits of the importer, so it is not sanitized either.
	add_executable(mesh_stub mesh_stub.c ../collision/mesh.c ../collision/mesh_record.c
		../base/assert.c ../base/log.c)
	target_include_directories(mesh_stub PRIVATE ${PROJECT_SOURCE_DIR})
	target_link_libraries(mesh_stub PRIVATE tactus_options tactus_unsanitized m)

	tactus_test(mesh_load tactus::collision)
	target_compile_definitions(test_mesh_load PRIVATE TACTUS_MESH_STUB="$<TARGET_FILE:mesh_stub>"
		TACTUS_MESHES="${TACTUS_MESHES}")
	add_dependencies(test_mesh_load mesh_stub tactus-import)

	tactus_test(mesh_hostile tactus::collision)
	target_compile_definitions(test_mesh_hostile PRIVATE TACTUS_COMMAND="$<TARGET_FILE:tactus>"
		TACTUS_HOSTILE="${CMAKE_CURRENT_SOURCE_DIR}/hostile")
	add_dependencies(test_mesh_hostile tactus tactus-import)
endif()

# The corpus of the fuzzer as a test, and the fuzzer itself on request:
#   CC=clang cmake -DTACTUS_FUZZ=ON -DTACTUS_SANITIZE=address,undefined …; tests/fuzz_mesh FOLDER tests/fuzz/corpus
add_executable(test_mesh_corpus fuzz/replay.c fuzz/fuzz_mesh.c)
target_link_libraries(test_mesh_corpus PRIVATE tactus_options tactus::collision)
add_test(NAME ${TACTUS_TEST_PREFIX}mesh_corpus
	COMMAND test_mesh_corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus)
set_tests_properties(${TACTUS_TEST_PREFIX}mesh_corpus PROPERTIES TIMEOUT 120 LABELS unit)
option(TACTUS_FUZZ "Build the libFuzzer targets; needs clang" OFF)
if(TACTUS_FUZZ)
	target_compile_options(tactus_collision PRIVATE -fsanitize=fuzzer-no-link)
	add_executable(fuzz_mesh fuzz/fuzz_mesh.c)
	target_compile_options(fuzz_mesh PRIVATE -fsanitize=fuzzer)
	target_link_options(fuzz_mesh PRIVATE -fsanitize=fuzzer)
	target_link_libraries(fuzz_mesh PRIVATE tactus_options tactus::collision)
endif()
