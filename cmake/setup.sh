# What ./run and tests/run share: the Debian packages, and how a build folder comes about. Sourced by bash.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# Every Debian package Tactus uses, each with what it is for: these four tables are the only list.
# shellcheck disable=SC2034 # the tables are read by the scripts that source this file
packages_build='
	build-essential        compiler, linker, headers of the C library
	cmake                  configures the build; 3.25 or newer
	ninja-build            runs the build
	pkg-config             finds libraries that bring no CMake package
	libassimp-dev          reads mesh files, in a process of its own
	libusb-1.0-0-dev       talks to USB devices
	libyaml-dev            reads scene files
	libsuperlu-dev         prepares soft bodies, in a program of its own
'
# shellcheck disable=SC2034
packages_test='
	python3                checks the files the program writes
	spin                   proves the models of the lock-free buffers
'
# For the viewer alone; without them the program says that it has none.
# shellcheck disable=SC2034
packages_view='
	libglfw3-dev           the viewer: windows, mouse and keys
	libepoxy-dev           the viewer: OpenGL
	libcglm-dev            the viewer: matrices
	libpng-dev             the viewer: pictures in files
'
# Without one of these a part is left out, and says so.
# shellcheck disable=SC2034
packages_optional='
	clang-format-14        the test of the formatting
	verilator              the chip in gates: --collider rtl and its tests
	yosys                  the proofs about the gates, and their synthesis
	sdcc                   the firmware of the USB bridge of a board
	gcc-aarch64-linux-gnu  the NEON bodies, compiled
	libc6-dev-arm64-cross  the NEON bodies, linked
	qemu-user-static       the NEON bodies, run
	qemu-system-x86        Debian kernels that meet virtual USB devices, tested
	libck-dev              the benchmark against Concurrency Kit
	libode-dev             the example with physics of its own, and its test
	chromium               the test of the report in a browser
	xvfb                   the test of the viewer, on a display of its own
	libgl1-mesa-dri        the same, without a graphics processor
	xdotool                the same, keys and mouse
	doxygen                the reference of the C interface
	groff                  the test of the manual page
	zsh                    the test of its completion
	systemtap-sdt-dev      the probes for perf and bpftrace
	calculix-ccx           the test of soft bodies against another solver
	abigail-tools          the comparison of interfaces of libtactus.so
	python3-cffi           the Python package, built
	python3-numpy          the Python package
	python3-setuptools     the Python package, installed
	python3-pip            the Python package, installed
	npm                    three.js for the pictures of the console; reference readers and clients, for tests
	cyclonedds-dev         the bridge of tactus share: DDS
	cyclonedds-tools       the same: the compiler of its types
	libwebsockets-dev      the page of tactus console
	libfastrtps-dev        the test of shared ROS 2 topics with the DDS of another vendor
	python3-rosidl         the test of shared ROS 2 messages with the tools of ROS
	python3-empy           the same: its templates
	python3-lark           the same: its grammar
	openssl                credentials of tactus share
	iproute2               the tests of sharing, in network namespaces
	strace                 the test of the system calls of a shared run
	lintian                the test of the Debian packages
	reuse                  the test that every file has a licence
'

say() {
	printf 'tactus: %s\n' "$*" >&2
}

die() {
	say "$*"
	exit 1
}

# Prints those of the named packages that are not installed.
missing_packages() {
	local installed package
	installed=$'\n'$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)$'\n'
	for package; do
		[[ $installed == *$'\n'"installed $package"$'\n'* ]] || printf '%s\n' "$package"
	done
}

# Whether packages can be installed here; sets `as_root` to what goes before the command.
as_root=()
may_install() {
	((EUID == 0)) && return
	command -v sudo >/dev/null || return
	if sudo -n true 2>/dev/null; then
		as_root=(sudo -n)
	else
		[[ -t 0 && -t 2 ]] && as_root=(sudo) # someone is there to type the password
	fi
}

# Runs apt-get without questions; its output is kept back in `apt_output`.
apt_output=
apt_get() {
	apt_output=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq -y \
		-o DPkg::Lock::Timeout=300 "$@" </dev/null 2>&1)
}

apt_knows() {
	apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

# One dead mirror among several is no reason to give up: what follows tells whether the lists do.
update_lists() {
	apt_get update || true
}

# Installs the named packages, asking for new lists only where the present ones lack one or name a version that
# the mirror no longer has. The second try serves a broken download too.
install_packages() {
	local package
	for package; do
		apt_knows "$package" || { update_lists && break; }
	done
	apt_get install --no-install-recommends "$@" && return
	update_lists
	apt_get install --no-install-recommends "$@"
}

# need_packages WHAT-FOR TABLE: all packages of the table are there afterwards, or the script ends.
need_packages() {
	local names missing tool
	mapfile -t names < <(awk 'NF { print $1 }' <<<"$2")
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		say "not a Debian system: going on without its packages ${names[*]}"
		for tool in cc cmake ninja; do
			command -v "$tool" >/dev/null || die "$tool is not on the PATH"
		done
		return
	fi
	mapfile -t missing < <(missing_packages "${names[@]}")
	((${#missing[@]})) || return 0
	may_install || die "missing $1; as root: apt-get install ${missing[*]}"
	say "installing $1: ${missing[*]}"
	install_packages "${missing[@]}" ||
		die "apt-get install ${missing[*]} failed: $(tail -n 1 <<<"$apt_output")"
}

# want_packages TABLE: the same for packages that may stay away; what is left out then is said in a line each.
want_packages() {
	local names missing known=() name use
	command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
	mapfile -t names < <(awk 'NF { print $1 }' <<<"$1")
	mapfile -t missing < <(missing_packages "${names[@]}")
	((${#missing[@]})) || return 0
	if may_install; then
		compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || update_lists
		for name in "${missing[@]}"; do
			! apt_knows "$name" || known+=("$name")
		done
		if ((${#known[@]})); then
			say "installing, if it can be had: ${known[*]}"
			install_packages "${known[@]}" || for name in "${known[@]}"; do
				apt_get install --no-install-recommends "$name" || true
			done
			mapfile -t missing < <(missing_packages "${names[@]}")
		fi
	fi
	while read -r name use; do
		[[ -z $name || " ${missing[*]} " != *" $name "* ]] || say "skipped: $use (package $name)"
	done <<<"$1"
}

# Whether build/PRESET was configured, here and after the presets last changed.
configured() {
	local folder=$root/build/$1
	[[ -f $folder/build.ninja && $folder/build.ninja -nt $root/CMakePresets.json ]] &&
		grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"
}

# configure PRESET [NAME=VALUE…]: configures build/PRESET unless that was done with these values.
configure() {
	local preset=$1 setting name value fresh=(--fresh) same=1
	shift
	if configured "$preset"; then
		fresh=()
		for setting; do
			name=${setting%%=*} value=${setting#*=}
			grep -qxF -e "$name:BOOL=$value" -e "$name:PATH=$value" -e "$name:STRING=$value" \
				"$root/build/$preset/CMakeCache.txt" || same=0
		done
		((!same)) || return 0
	fi
	say "configuring build/$preset"
	cmake "${fresh[@]}" --log-level=NOTICE -S "$root" --preset "$preset" "${@/#/-D}" >/dev/null
}

# Passes on what ninja says, but of its progress only a line for each further tenth: for logs, and for people who wait.
tenths() {
	awk '/^ninja: Entering directory/ { next }
		/^\[[0-9]+\/[0-9]+\] / {
			split(substr($1, 2), n, "/")
			tenth = int(10 * n[1] / (n[2] + 0))
			if (tenth > last) { print "tactus: built " 10 * (last = tenth) " %"; fflush() }
			next
		}
		{ print; fflush() }'
}

# build PRESET [TARGET…]: builds, with progress, and silently where nothing is to be done.
build() {
	local folder=$root/build/$1 plan
	shift
	plan=$(ninja -C "$folder" -n "$@" | tail -n 1)
	[[ $plan != *'no work to do'* ]] || return 0
	say "building ${folder#"$root/"}; a first build takes some minutes"
	if [[ -t 2 ]]; then
		ninja -C "$folder" -j "$(nproc)" "$@" >&2
	else
		NINJA_STATUS='[%f/%t] ' ninja -C "$folder" -j "$(nproc)" "$@" | tenths >&2
	fi
}
