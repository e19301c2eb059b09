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

tactus_fuzz(mesh collision)
