# Continuous collision: features in motion, bodies, what is near a pose.
tactus_test(plucker tactus::collision)
tactus_test(ccd_feature tactus::collision)
tactus_test(ccd tactus::collision)
tactus_count_allocations(ccd)
tactus_test(ccd_round tactus::collision)
tactus_test(certificate tactus::collision)
tactus_test(contacts tactus::collision)
if(TARGET tactus-import)
	tactus_test(sweep tactus::collision)
	target_compile_definitions(test_sweep PRIVATE TACTUS_COMMAND="$<TARGET_FILE:tactus>"
		TACTUS_IMPORT="$<TARGET_FILE:tactus-import>")
	add_dependencies(test_sweep tactus tactus-import)
endif()
