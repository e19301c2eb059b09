# The system test on a real kernel: Debian's kernels in QEMU with virtual USB devices (run.py). A scenario is a program for
# the guest, scenario_NAME.c, added by a call of tactus_guest_scenario.
add_executable(guest_init EXCLUDE_FROM_ALL guest/init.c)
target_link_libraries(guest_init PRIVATE tactus_options)
target_link_options(guest_init PRIVATE -static)

set(TACTUS_GUEST_SCENARIOS)
function(tactus_guest_program name)
	add_executable(guest_${name} EXCLUDE_FROM_ALL guest/scenario_${name}.c)
	set_target_properties(guest_${name} PROPERTIES OUTPUT_NAME guest/${name})
	target_link_libraries(guest_${name} PRIVATE tactus_options tactus::devices ${ARGN})
endfunction()
function(tactus_guest_scenario name)
	tactus_guest_program(${name} ${ARGN})
	set(TACTUS_GUEST_SCENARIOS ${TACTUS_GUEST_SCENARIOS} $<TARGET_FILE:guest_${name}> PARENT_SCOPE)
endfunction()
tactus_guest_scenario(board tactus::collision)
tactus_guest_scenario(falcon tactus::haptic)

# Random ends of runtime, keeper and guard take longer than the others, so they have a boot of their own.
tactus_guest_program(ends)
target_sources(guest_ends PRIVATE ${TACTUS_TEST_ROOT}/support/ends.c ${TACTUS_TEST_ROOT}/support/mirrored_falcon.c)

# The board again with gateware inside: a command whose `emulate board` has the chip's gates, and a smaller tree for them.
if(TARGET tactus_rtl)
	add_executable(rtl_tactus EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/apps/tactus.c
		${TACTUS_TEST_ROOT}/support/rtl_virtual_board.c)
	target_link_libraries(rtl_tactus PRIVATE tactus_options tactus_commands tactus_hardware tactus::devices)
	add_executable(guest_rtl_board EXCLUDE_FROM_ALL guest/scenario_board.c)
	set_target_properties(guest_rtl_board PROPERTIES OUTPUT_NAME guest/rtl_board)
	target_compile_definitions(guest_rtl_board PRIVATE TAC_TEST_GATES)
	target_link_libraries(guest_rtl_board PRIVATE tactus_options tactus::devices tactus::collision)
	tactus_add_test(rtl_guest LONG ALONE LABEL guest TARGETS guest_init guest_rtl_board rtl_tactus tactus-keep tactus_rtl
		COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/guest/run.py --library $<TARGET_FILE:tactus_rtl> amd64
			${PROJECT_BINARY_DIR}/guest $<TARGET_FILE:guest_init> $<TARGET_FILE:rtl_tactus> $<TARGET_FILE:tactus-keep>
			$<TARGET_FILE:guest_rtl_board>)
endif()

foreach(flavour IN ITEMS amd64 rt-amd64)
	tactus_add_test(guest_${flavour} LONG ALONE LABEL guest
		TARGETS guest_init guest_board guest_falcon tactus tactus-keep
		COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/guest/run.py ${flavour} ${PROJECT_BINARY_DIR}/guest
			$<TARGET_FILE:guest_init> $<TARGET_FILE:tactus> $<TARGET_FILE:tactus-keep> ${TACTUS_GUEST_SCENARIOS})
	tactus_add_test(guest_ends_${flavour} LONG ALONE LABEL guest
		TARGETS guest_init guest_ends tactus tactus-keep
		COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/guest/run.py ${flavour} ${PROJECT_BINARY_DIR}/guest
			$<TARGET_FILE:guest_init> $<TARGET_FILE:tactus> $<TARGET_FILE:tactus-keep> $<TARGET_FILE:guest_ends>)
endforeach()
