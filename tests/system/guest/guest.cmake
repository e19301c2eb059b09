# The deep test: Debian's kernels in QEMU with virtual USB devices in their ports; run.py says more. A scenario is
# a program for the guest, scenario_NAME.c: another one is another call of tactus_guest_scenario.
add_executable(guest_init guest/init.c)
target_link_libraries(guest_init PRIVATE tactus_options)
target_link_options(guest_init PRIVATE -static)

set(TACTUS_GUEST_SCENARIOS)
function(tactus_guest_scenario name)
	add_executable(guest_${name} guest/scenario_${name}.c)
	set_target_properties(guest_${name} PROPERTIES OUTPUT_NAME guest/${name})
	target_link_libraries(guest_${name} PRIVATE tactus_options tactus::devices ${ARGN})
	set(TACTUS_GUEST_SCENARIOS ${TACTUS_GUEST_SCENARIOS} $<TARGET_FILE:guest_${name}> PARENT_SCOPE)
endfunction()
tactus_guest_scenario(board tactus::collision)
tactus_guest_scenario(falcon tactus::haptic)

foreach(flavour IN ITEMS amd64 rt-amd64)
	add_test(NAME guest_${flavour}
		COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/guest/run.py ${flavour}
			${PROJECT_BINARY_DIR}/guest $<TARGET_FILE:guest_init> $<TARGET_FILE:tactus> ${TACTUS_GUEST_SCENARIOS})
	set_tests_properties(guest_${flavour} PROPERTIES LABELS guest TIMEOUT 300 RUN_SERIAL TRUE SKIP_RETURN_CODE 77)
endforeach()
