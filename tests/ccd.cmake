# Continuous collision: features in motion, bodies, what is near a pose.
tactus_test(plucker tactus::collision)
tactus_test(ccd_feature tactus::collision)
tactus_test(ccd tactus::collision)
# The test counts the allocations of the library.
target_link_options(test_ccd PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc)
tactus_test(ccd_round tactus::collision)
tactus_test(certificate tactus::collision)
tactus_test(contacts tactus::collision)
if(TARGET tactus-import)
	tactus_test(sweep tactus::collision)
	target_compile_definitions(test_sweep PRIVATE TACTUS_COMMAND="$<TARGET_FILE:tactus>"
		TACTUS_IMPORT="$<TARGET_FILE:tactus-import>")
	add_dependencies(test_sweep tactus tactus-import)
endif()
