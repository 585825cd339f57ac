# SPDX-License-Identifier: GPL-2.0-only
#
# debian.sh KERNEL CPUS: Debian's packages on a Debian that has nothing but a kernel and its headers: "apt install ./*.deb",
# then guests boot from it, and tests/host/debian/guest.sh goes on there. The kernel says which Debian it is: 6.1 is Debian
# 12's, 6.12 Debian 13's, newest sid's. The packages are those that are built here. As root.

set -uo pipefail

kernel=$1
cpus=$2
case $kernel in
6.1)	suite=bookworm ;;
6.12)	suite=trixie ;;
newest)	suite=sid ;;
*)	echo "skipped: no Debian is known that has $kernel"; exit 77 ;;
esac
cache=$TOP/build/debian
base=$cache/$suite
mirror=http://deb.debian.org/debian
boot_limit_s=3000

die() {
	echo "FAILED: $*"
	exit 1
}

skip() {
	echo "skipped: $*"
	exit 77
}

[ "$(id -u)" = 0 ] || skip 'a tree of Debian is made as root'
for tool in debootstrap dpkg-buildpackage dh_dkms mke2fs qemu-system-x86_64; do
	PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null || die "$tool is missing; run scripts/deps"
done

# Made once, for it is downloaded. A mount namespace takes away what it mounts. The kernel is apt's to install: of two packages
# that make an initrd debootstrap would take both.
make_base() {
	echo "making a tree of Debian $suite"
	mkdir -p "$cache"
	rm -rf "$base.new"
	unshare --mount --pid --fork --kill-child --propagation private \
		debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		--include=systemd-sysv,udev,dbus,kmod "$suite" "$base.new" $mirror >debootstrap.log 2>&1 ||
		{ tail debootstrap.log; die 'debootstrap'; }
	cp /etc/resolv.conf "$base.new/etc/resolv.conf"
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private sh -ec '
		mount -t proc proc "$1/proc"
		export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
		exec chroot "$1" apt-get -q install -y --no-install-recommends linux-image-amd64 linux-headers-amd64 initramfs-tools' \
		sh "$base.new" >kernel.log 2>&1 || { tail kernel.log; die 'installing a kernel in it'; }
	rm -f "$base.new"/var/cache/apt/archives/*.deb
	mv "$base.new" "$base"
}

exec 9>"$cache.lock"
flock 9
[ -d "$base" ] || make_base
MAKEFLAGS='' make -C "$TOP" deb >deb.log 2>&1 || { tail -30 deb.log; die 'make deb'; }
flock -u 9

# The module's package of the next release, by which it is upgraded.
release=$(sed -n 's/^.define FKT_RELEASE "\(.*\)"/\1/p' "$TOP/include/fkt/version.h")
next=$release.1
mkdir next
tar -xJf "$TOP/build/deb/fkt_$release.tar.xz" -C next
(
	set -e
	cd "next/fkt-$release"
	sed -i "s/^\(.define FKT_RELEASE\) .*/\1 \"$next\"/" include/fkt/version.h
	sed -i "1s/(.*)/($next)/" debian/changelog
	env -u MAKEFLAGS dpkg-buildpackage --build=all --unsigned-changes
) >next.log 2>&1 || { tail -30 next.log; die 'the packages of the next release'; }

# What is written goes into a layer of its own, above the tree; the image's file system is made of both. In its namespace of
# mounts, this is also what is seen of the tree by apt, which runs there.
cat >install.sh <<'END'
set -e
base=$1 debs=$2 guest=$3 next=$4
mkdir -p upper work root
mount -t tmpfs -o mode=755 tmpfs work
mkdir work/upper work/work
mount -t overlay -o lowerdir="$base",upperdir=work/upper,workdir=work/work overlay root
mount -t proc proc root/proc
mkdir -p root/tmp/debs
cp "$debs"/fkt_*.deb "$debs"/fkt-dkms_*.deb "$debs"/fkt-doc_*.deb "$debs"/libfkt0_*.deb "$debs"/libfkt-dev_*.deb \
	"$debs"/python3-fkt_*.deb root/tmp/debs/
cp /etc/resolv.conf root/etc/resolv.conf
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
# A mirror may be some weeks behind.
chroot root sh -ec 'apt-get -q -o Acquire::Check-Valid-Until=false update; cd /tmp/debs; apt-get -q install -y --no-install-recommends openssl ./*.deb'
rm -rf root/tmp/debs
chroot root dkms status
# What is not FKT's users': the tests'.
chroot root apt-get -q install -y --no-install-recommends autopkgtest
mkdir root/root/fkt
cp "$debs"/fkt_*.dsc "$debs"/fkt_*.tar.xz "$next" root/root/fkt
chroot root sh -ec '
	useradd -m -G tracing member
	useradd -m other
	echo fkt >/etc/hostname
	systemctl -q mask apt-daily.timer apt-daily-upgrade.timer e2scrub_reap.service systemd-timesyncd.service'
install -m 755 "$guest" root/guest.sh
cat >root/etc/systemd/system/guest.service <<-UNIT
	[Unit]
	After=multi-user.target
	[Service]
	Type=oneshot
	ExecStart=/guest.sh
	StandardOutput=file:/dev/ttyS1
	StandardError=inherit
	ExecStopPost=systemctl --no-block poweroff
	[Install]
	WantedBy=graphical.target
UNIT
chroot root sh -ec 'systemctl -q enable guest.service; systemctl -q set-default graphical.target'
umount root/proc
cp root/boot/vmlinuz-* vmlinuz
cp root/boot/initrd.img-* initrd
mke2fs -q -t ext4 -d root disk.img 4G
END
unshare --mount --propagation private bash install.sh "$base" "$TOP/build/deb" "$TOP/tests/host/debian/guest.sh" \
	"next/fkt-dkms_${next}_all.deb" >install.log 2>&1 || { tail -30 install.log; die 'apt install ./*.deb'; }
grep '^fkt/.*installed' install.log || die "DKMS has not built it: $(tail -30 install.log)"

# boot NAME [WORD]: a guest, with this on its kernel's command line, from which guest.sh sees what there is to test.
boot() {
	local status

	echo "--- $1"
	timeout $boot_limit_s qemu-system-x86_64 -machine q35 -cpu max -m 2G -smp "$cpus",maxcpus="$cpus" \
		-accel tcg,thread=single -kernel vmlinuz -initrd initrd \
		-append "root=/dev/vda rw console=ttyS0 quiet panic=-1 norandmaps no5lvl no_timer_check ${2-}" \
		-drive if=none,id=disk,format=raw,cache=unsafe,file=disk.img -device virtio-blk-pci,drive=disk \
		-serial "file:$1.console" -serial "file:$1.said" -display none -monitor none -no-reboot </dev/null >"$1.log" 2>&1
	status=$?
	tr -d '\r' <"$1.said"
	[ $status = 0 ] || { cat "$1.log"; tail -30 "$1.console"; die "the guest ended with status $status"; }
	grep -q '^all done' "$1.said" || { tail -30 "$1.console"; die 'the guest did not come to its end'; }
}

boot signature module.sig_enforce=1
boot all
[ -n "${FKT_KEEP-}" ] || rm -f disk.img
! grep -q '^FAILED' ./*.said
