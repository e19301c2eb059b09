# cmake -DREADELF=… -DPROGRAM=… -P probes.cmake: PROGRAM has the probes of rt/probe.h in its ELF notes, with
# arguments of the documented number, sign and size (SIZE@operand; negative: signed).
execute_process(COMMAND ${READELF} -n ${PROGRAM} OUTPUT_VARIABLE notes COMMAND_ERROR_IS_FATAL ANY)
set(operand "@[^ \n]+")
set(int64 "-8${operand}")
set(int32 "-4${operand}")

foreach(probe "tick_start;${int64} ${int64}" "phase_end;${int64} ${int32}" "tick_miss;${int64} ${int32} ${int32} ${int64}")
	list(GET probe 0 name)
	list(GET probe 1 arguments)
	# One place in the source may become several in the program; all of them must match.
	string(REGEX MATCHALL "Provider: tactus\n +Name: ${name}\n[^\n]*\n +Arguments: [^\n]*" found "${notes}")
	if(NOT found)
		message(FATAL_ERROR "probe tactus:${name} is not in ${PROGRAM}:\n${notes}")
	endif()
	foreach(note IN LISTS found)
		if(NOT note MATCHES "Arguments: ${arguments} *$")
			message(FATAL_ERROR "probe tactus:${name}: expected \"${arguments}\", found:\n${note}")
		endif()
	endforeach()
endforeach()
