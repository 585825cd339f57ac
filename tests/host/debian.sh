# SPDX-License-Identifier: GPL-2.0-only
#
# debian.sh KERNEL CPUS: Debian's packages on a Debian that has nothing but a kernel and its headers: "apt install ./*.deb",
# then a guest boots from it, and tests/host/debian/guest.sh goes on there. As root.

set -uo pipefail

kernel=$1
cpus=$2
case $kernel in
6.12)	suite=trixie ;;
*)	suite=bookworm ;;
esac
cache=$TOP/build/debian
base=$cache/$suite
mirror=http://deb.debian.org/debian
boot_limit_s=900

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

# Made once, for it is downloaded. A mount namespace takes away what it mounts.
make_base() {
	echo "making a tree of Debian $suite"
	mkdir -p "$cache"
	rm -rf "$base.new"
	unshare --mount --pid --fork --kill-child --propagation private \
		debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		--include=systemd-sysv,udev,dbus,kmod,linux-image-amd64,linux-headers-amd64,initramfs-tools \
		"$suite" "$base.new" $mirror >debootstrap.log 2>&1 || { tail debootstrap.log; die 'debootstrap'; }
	rm -f "$base.new"/var/cache/apt/archives/*.deb
	mv "$base.new" "$base"
}

exec 9>"$cache.lock"
flock 9
[ -d "$base" ] || make_base
MAKEFLAGS='' make -C "$TOP" deb >deb.log 2>&1 || { tail -30 deb.log; die 'make deb'; }
flock -u 9

# What is written goes into a layer of its own, above the tree; the image's file system is made of both. In its namespace of
# mounts, this is also what is seen of the tree by apt, which runs there.
cat >install.sh <<'END'
set -e
base=$1 debs=$2 guest=$3
mkdir -p upper work root
mount -t tmpfs -o mode=755 tmpfs work
mkdir work/upper work/work
mount -t overlay -o lowerdir="$base",upperdir=work/upper,workdir=work/work overlay root
mount -t proc proc root/proc
mkdir -p root/tmp/debs
cp "$debs"/fkt_*.deb "$debs"/fkt-dkms_*.deb "$debs"/fkt-doc_*.deb "$debs"/libfkt0_*.deb "$debs"/libfkt-dev_*.deb root/tmp/debs/
cp /etc/resolv.conf root/etc/resolv.conf
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
find root -xdev \( -name '*fkt*' -o -path root/etc/group \) ! -path 'root/tmp/*' -printf '%P\n' >before
chroot root sh -ec 'apt-get -q update; cd /tmp/debs; apt-get -q install -y --no-install-recommends ./*.deb'
rm -rf root/tmp/debs
chroot root dkms status
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
mke2fs -q -t ext4 -d root disk.img 3G
END
unshare --mount --propagation private bash install.sh "$base" "$TOP/build/deb" "$TOP/tests/host/debian/guest.sh" >install.log 2>&1 ||
	{ tail -30 install.log; die 'apt install ./*.deb'; }
grep '^fkt/.*installed' install.log || die "DKMS has not built it: $(tail -30 install.log)"

timeout $boot_limit_s qemu-system-x86_64 -machine q35 -cpu max -m 1G -smp "$cpus",maxcpus="$cpus" -accel tcg,thread=single \
	-kernel vmlinuz -initrd initrd -append 'root=/dev/vda rw console=ttyS0 quiet panic=-1 norandmaps no5lvl no_timer_check' \
	-drive if=none,id=disk,format=raw,cache=unsafe,file=disk.img -device virtio-blk-pci,drive=disk \
	-serial file:console -serial file:said -display none -monitor none -no-reboot </dev/null >qemu.log 2>&1
status=$?
[ -n "${FKT_KEEP-}" ] || rm -f disk.img
tr -d '\r' <said
[ $status = 0 ] || { cat qemu.log; tail -30 console; die "the guest ended with status $status"; }
! grep '^FAILED' said >/dev/null || exit 1
grep -q '^all done' said || { tail -30 console; die 'the guest did not come to its end'; }
