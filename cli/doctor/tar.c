// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A tar file, written front to back. */
#include "tar.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, NAME_BYTES = 100 };

/* POSIX.1-1988 ustar. Unset fields are zero. */
struct header {
	char name[NAME_BYTES];
	char mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type;
	char link[100];
	char magic[8];
	char rest[BLOCK - 265];
};

static_assert(sizeof(struct header) == BLOCK, "a header is one block");

int gp_tar_create(struct gp_tar *tar, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	*tar = (struct gp_tar){ 0 };
	if (fd < 0)
		return -errno;
	tar->to = fdopen(fd, "wb");
	if (tar->to)
		return 0;
	close(fd);
	return -ENOMEM;
}

static void put(struct gp_tar *tar, const void *data, size_t size)
{
	if (!tar->err && fwrite(data, 1, size, tar->to) != size)
		tar->err = -errno;
}

int gp_tar_add(struct gp_tar *tar, const char *name, const void *data, size_t size)
{
	static const char zero[BLOCK];
	struct header h = { .mode = "0000600", .uid = "0000000", .gid = "0000000",
			    .mtime = "00000000000", .type = '0', .magic = "ustar" };
	const u8 *byte = (const u8 *)&h;
	u32 sum = 0;

	if (strlen(name) >= NAME_BYTES)
		return -ENAMETOOLONG;
	memcpy(h.name, name, strlen(name));
	memcpy(h.magic + 6, "00", 2);
	snprintf(h.size, sizeof(h.size), "%011o", (unsigned int)size);
	/* The checksum counts its own field as blanks. */
	memset(h.checksum, ' ', sizeof(h.checksum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += byte[i];
	snprintf(h.checksum, sizeof(h.checksum), "%06o", sum);
	put(tar, &h, sizeof(h));
	put(tar, data, size);
	put(tar, zero, (BLOCK - size % BLOCK) % BLOCK);
	tar->files += !tar->err;
	return tar->err;
}

int gp_tar_close(struct gp_tar *tar)
{
	static const char end[2 * BLOCK];

	put(tar, end, sizeof(end));
	if (fclose(tar->to) && !tar->err)
		tar->err = -errno;
	return tar->err;
}
