# tactus_simd_variants(TARGET kernel.c …): compiles each kernel once for every SIMD variant of the target
# architecture and adds the objects to TARGET. Each compilation sees TAC_SIMD_SUFFIX (_scalar, _sse2, _avx2,
# _avx512, _neon), which TAC_SIMD_NAME of base/simd.h puts behind the kernel's names. Put no other code in a kernel: what
# is compiled with -mavx2 may run only where tac_simd_supported says so.
include(CheckSymbolExists)
check_symbol_exists(__x86_64__ "" TACTUS_TARGET_X86_64)
check_symbol_exists(__aarch64__ "" TACTUS_TARGET_AARCH64)

set(TACTUS_SIMD_VARIANTS scalar)
if(TACTUS_SIMD AND TACTUS_TARGET_X86_64)
	list(APPEND TACTUS_SIMD_VARIANTS sse2 avx2 avx512)
elseif(TACTUS_SIMD AND TACTUS_TARGET_AARCH64)
	list(APPEND TACTUS_SIMD_VARIANTS neon)
endif()
# -mno-…: CMAKE_C_FLAGS with -march=native must not turn a variant into another of the next one.
set(TACTUS_SIMD_FLAGS_scalar -DTAC_NO_SIMD)
set(TACTUS_SIMD_FLAGS_sse2 -msse2 -mno-avx)
set(TACTUS_SIMD_FLAGS_avx2 -mavx2 -mno-avx512f)
set(TACTUS_SIMD_FLAGS_avx512 -mavx512f -mavx512vl -mavx512dq -mprefer-vector-width=256)
set(TACTUS_SIMD_FLAGS_neon)

function(tactus_simd_variants target)
	foreach(kernel IN LISTS ARGN)
		cmake_path(GET kernel STEM name)
		foreach(variant IN LISTS TACTUS_SIMD_VARIANTS)
			set(objects ${target}_${name}_${variant})
			add_library(${objects} OBJECT ${kernel})
			set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON
				C_VISIBILITY_PRESET hidden)
			target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR})
			target_compile_definitions(${objects} PRIVATE TAC_SIMD_SUFFIX=_${variant}
				$<$<NOT:$<BOOL:${TACTUS_ASSERT}>>:TAC_NO_ASSERT>)
			target_compile_options(${objects} PRIVATE ${TACTUS_SIMD_FLAGS_${variant}})
			target_link_libraries(${objects} PRIVATE tactus_options)
			target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
		endforeach()
	endforeach()
endfunction()

# tactus_kernels(LIBRARY kernel.c …): tactus_simd_variants for the folder library LIBRARY, with the optimisation
# that its kernels need.
function(tactus_kernels library)
	tactus_simd_variants(tactus_${library} ${ARGN})
	foreach(kernel IN LISTS ARGN)
		cmake_path(GET kernel STEM name)
		foreach(variant IN LISTS TACTUS_SIMD_VARIANTS)
			set(object tactus_${library}_${name}_${variant})
			set_property(GLOBAL APPEND PROPERTY TACTUS_OBJECTS $<TARGET_OBJECTS:${object}>)
			if(TACTUS_SANITIZE)
				# Of the plain-C bodies, gcc 12 takes two minutes with full debug information, clang 14 a quarter of an
				# hour with -O2.
				target_compile_options(${object} PRIVATE -g1 $<IF:$<STREQUAL:${variant},scalar>,-Og,-O1>)
			elseif(NOT variant STREQUAL scalar)
				# Unrolls the loops over three coordinates; otherwise wide values go through memory.
				target_compile_options(${object} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3>)
			endif()
		endforeach()
	endforeach()
endfunction()
