#!/bin/sh
# Builds the tests of base/wide.h and base/algebra.h for 64-bit ARM with the cross compiler and runs them under
# qemu, where these are installed (Debian: gcc-aarch64-linux-gnu, qemu-user-static). Exit code 77: skipped.
# Usage: test_neon.sh SOURCE_FOLDER UNITY_FOLDER SCRATCH_FOLDER
set -eu
source=$1 unity=$2 scratch=$3

compiler=$(command -v aarch64-linux-gnu-gcc) || {
	echo "skipped: no aarch64-linux-gnu-gcc here, the NEON bodies were not compiled"
	exit 77
}
mkdir -p "$scratch"
flags="-std=c17 -O1 -ffp-contract=off -D_GNU_SOURCE -I$source -I$unity -DUNITY_INCLUDE_DOUBLE -DUNITY_SUPPORT_64"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow -Werror"

for variant in scalar neon; do
	no_simd=$([ $variant = neon ] || echo -DTAC_NO_SIMD)
	$compiler $flags $warnings $no_simd -DTAC_SIMD_SUFFIX=_$variant -c "$source/tests/wide_kernel.c" \
		-o "$scratch/wide_kernel_$variant.o"
done
$compiler $flags $warnings -c "$source/base/simd.c" -o "$scratch/simd.o"
$compiler $flags -c "$unity/unity.c" -o "$scratch/unity.o"
$compiler $flags -static "$source/tests/test_wide.c" "$source/base/log.c" "$scratch/simd.o" "$scratch/unity.o" \
	"$scratch/wide_kernel_scalar.o" "$scratch/wide_kernel_neon.o" -lm -o "$scratch/test_wide"
$compiler $flags -static "$source/tests/test_algebra.c" "$scratch/unity.o" -lm -o "$scratch/test_algebra"

emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || {
	echo "skipped: the NEON bodies compile, but there is no qemu-aarch64 here to run them"
	exit 77
}
"$emulator" "$scratch/test_wide"
"$emulator" "$scratch/test_algebra"
