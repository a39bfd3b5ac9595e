/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who is at the other end of a socket, as the kernel says. */
#ifndef GP_PEER_H
#define GP_PEER_H

#include "control.h"

/* @group: who else is privileged; (gid_t)-1: nobody. 0 or -errno. */
int gp_peer_identify(int fd, gid_t group, struct gp_peer *ret);
/* The group called @name; (gid_t)-1 if there is none. */
gid_t gp_peer_group(const char *name);

#endif /* GP_PEER_H */
