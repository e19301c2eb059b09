#!/bin/sh
# tactus query: forms, bad input, and the answers at the reference poses. Usage: test_query.sh TACTUS MESHES WORK
tactus=$1 meshes=$2 work=$3
mkdir -p "$work" && cd "$work" || exit 1
failures=0

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

cat > cube.off <<'MESH'
OFF
8 12 0
-0.5 -0.5 -0.5
0.5 -0.5 -0.5
-0.5 0.5 -0.5
0.5 0.5 -0.5
-0.5 -0.5 0.5
0.5 -0.5 0.5
-0.5 0.5 0.5
0.5 0.5 0.5
3 0 2 1
3 1 2 3
3 4 5 6
3 5 7 6
3 0 1 4
3 1 5 4
3 2 6 3
3 3 6 7
3 0 4 2
3 2 4 6
3 1 3 5
3 3 7 5
MESH
one="1 0 0 0 1 0 0 0 1"
printf '%s 1 0 0\n# a comment\n\n%s 1 1 1\n%s 1.000001 0 0\n%s 0.999999 0 0\n' "$one" "$one" "$one" "$one" > good.poses

# Face touch, vertex touch, a gap and a penetration of one micrometre: closed form.
for collider in wide doptree classic; do
	for mode in first pairs surfaces; do
		"$tactus" query cube.off cube.off --poses good.poses --mode $mode --collider $collider --repeat 2 \
			--csv out.csv > out.txt || fail "$collider $mode: exit $?"
		[ "$(cut -d, -f2 out.csv | tr '\n' ' ')" = "result hit hit none hit " ] ||
			fail "$collider $mode: $(cut -d, -f2 out.csv | tr '\n' ' ')"
		head -1 out.csv | grep -q '^pose,result,pairs,ns,' || fail "$collider: header $(head -1 out.csv)"
	done
done

# refused EXPECTED-TEXT ARGUMENT…: exit 2, nothing on the standard output, and a first line that says so.
refused()
{
	text=$1
	shift
	"$tactus" query "$@" > out.txt 2> err.txt
	code=$?
	[ $code -eq 2 ] || fail "$*: exit $code"
	[ ! -s out.txt ] || fail "$*: output"
	head -1 err.txt | grep -qF -- "$text" || fail "$*: found '$(head -1 err.txt)', expected '$text'"
}
echo "$one 1 0" > short.poses
printf '%s 1 0 0\n%s 1 0 0 7\n' "$one" "$one" > long.poses
echo "$one 1 nan 0" > nan.poses
echo "$one 1 x 0" > word.poses
echo "9 0 0 0 1 0 0 0 1 1 0 0" > skewed.poses
: > empty.poses
refused "short.poses:1: expected 12 numbers (R by rows, then t), found 11" cube.off cube.off --poses short.poses
refused "long.poses:2: expected 12 numbers (R by rows, then t), found more" cube.off cube.off --poses long.poses
refused "nan.poses:1: expected 12 numbers (R by rows, then t), found no finite number in place 11" \
	cube.off cube.off --poses nan.poses
refused "word.poses:1:" cube.off cube.off --poses word.poses
refused "skewed.poses:1: expected a rotation" cube.off cube.off --poses skewed.poses
refused "empty.poses: expected poses, found none" cube.off cube.off --poses empty.poses
refused "no.poses: cannot read the poses" cube.off cube.off --poses no.poses
refused ".: cannot read the poses" cube.off cube.off --poses .
refused "expected two meshes and --poses" cube.off --poses good.poses
refused "--mode fast is not understood" cube.off cube.off --poses good.poses --mode fast
refused "--collider none is not understood" cube.off cube.off --poses good.poses --collider none
refused "--repeat 0 is not understood" cube.off cube.off --poses good.poses --repeat 0
"$tactus" query none.off cube.off --poses good.poses > out.txt 2> err.txt
[ $? -eq 2 ] || fail "a missing mesh"
"$tactus" query --help | grep -q '^usage: tactus query' || fail "--help"

# The reference meshes: the boolean always, the pairs within their band.
for mesh in dragon filter bunny buddha; do
	[ -f "$meshes/$mesh.expected" ] || continue
	for run in wide:avx2 wide:sse2 doptree:avx2 classic:avx2; do
		[ $mesh = dragon ] || [ $mesh = filter ] || [ $run = wide:avx2 ] || continue
		TACTUS_SIMD=${run#*:} "$tactus" query "$meshes/$mesh.off" "$meshes/$mesh.off" --poses "$meshes/$mesh.poses" \
			--mode pairs --collider ${run%:*} --csv out.csv > out.txt 2> err.txt || fail "$mesh $run: exit $?"
		grep -v '^#' "$meshes/$mesh.expected" > expected.txt
		tail -n +2 out.csv | tr , ' ' | awk -v name="$mesh $run" '
			NR == FNR { hit[$1] = $2; low[$1] = $4 < $3 ? $4 : $3; high[$1] = $5 > $3 ? $5 : $3; n++; next }
			{ seen++
			  if (($2 == "hit") != hit[$1] || $3 < low[$1] || $3 > high[$1]) { print name, "pose", $0; bad = 1 } }
			END { exit bad || seen != n }' expected.txt - || fail "$mesh $run"
	done
done
[ $failures -eq 0 ] && echo OK
exit $failures
