/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a hostile process does to itself so that a program that asks about it waits. Each runs in
 * the process (target_run() of lab/driver/debug/story.h) and uses the file of a hostile_fuse that
 * is mounted at HOSTILE_DIR. 0 or -errno.
 */
#ifndef GP_LAB_HOSTILE_ATTACKS_H
#define GP_LAB_HOSTILE_ATTACKS_H

#include "lab/driver/debug/story.h"
#include "tests/lab/hostile/fuse.h"

#define HOSTILE_DIR	"/tmp/fuse"

/* Mounts it at HOSTILE_DIR, or stops the story. */
struct hostile_fuse hostile_start(void);
/* Until a request waits, and for a moment longer. */
void hostile_wait_held(const struct hostile_fuse *f);

/* Maps the file's first page at @at, in the place of what is there; NULL: anywhere. */
s64 hostile_map(void *at);
/* The page of the last hostile_map(). */
char *hostile_page(void);

/* One thread reads the page through /proc/self/mem, another one waits to lock the memory. */
s64 hostile_lock_memory(struct gp_lab_client *c, struct gp_lab_queue *queue);
/* GET_QUEUE_WAVE_STATE of the second queue, which is off, to the page: its KFD mutex is locked. */
s64 hostile_lock_kfd(struct gp_lab_client *c, struct gp_lab_queue *queue);
/* The page is where the first queue has its pointers. */
s64 hostile_cover_pointers(struct gp_lab_client *c, struct gp_lab_queue *queue);
/* The same; the process itself uses its pointers at another address from now on. */
s64 hostile_move_pointers(struct gp_lab_client *c, struct gp_lab_queue *queue);
/* The page is where the driver writes the head of the first queue's save area. */
s64 hostile_cover_save_area(struct gp_lab_client *c, struct gp_lab_queue *queue);
/* A thread executes the file. */
s64 hostile_exec(struct gp_lab_client *c, struct gp_lab_queue *queue);

#endif /* GP_LAB_HOSTILE_ATTACKS_H */
