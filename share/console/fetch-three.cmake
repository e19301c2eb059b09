# Fetches three.js from npm into the files TO, of which one is its licence. Without a network it leaves empty files, which the page
# takes as "no pictures".
#	cmake -DNPM=npm -DFOLDER=… -DTO=… -P fetch-three.cmake
set(version 0.187.0)
execute_process(COMMAND ${NPM} install --prefix ${FOLDER} --no-audit --no-fund --ignore-scripts --fetch-retries=0 --fetch-timeout=20000
	--prefer-offline three@${version}
	RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
foreach(file IN LISTS TO)
	cmake_path(GET file FILENAME name)
	set(from ${FOLDER}/node_modules/three/build/${name})
	if(name STREQUAL three.LICENSE)
		set(from ${FOLDER}/node_modules/three/LICENSE)
	endif()
	if(failed EQUAL 0 AND EXISTS ${from})
		file(COPY_FILE ${from} ${file})
	else()
		message("tactus console: three.js ${version} cannot be had from npm: its page shows no pictures")
		file(WRITE ${file} "")
	endif()
endforeach()
