// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Shared by the executors of packet streams. */
#include "stream.h"

bool vgpu_compare(u32 function, u64 value, u64 reference)
{
	switch (function) {
	case 0: return true;
	case 1: return value < reference;
	case 2: return value <= reference;
	case 3: return value == reference;
	case 4: return value != reference;
	case 5: return value >= reference;
	case 6: return value > reference;
	}
	return false;
}

/* The ops of the L2 cache, bits 4:0; bit 5 is 64 bits, bit 6 returns nothing. */
enum {
	OP_SWAP = 7, OP_COMPARE_SWAP = 8, OP_ADD = 15, OP_SUB = 16, OP_SMIN = 17, OP_UMIN = 18,
	OP_SMAX = 19, OP_UMAX = 20, OP_AND = 21, OP_OR = 22, OP_XOR = 23, OP_INC = 24, OP_DEC = 25,
	OP_MASK = 0x1f, OP_64 = 0x20, OP_ALL = 0x7f,
};

/* @old and the operands have the width of the op; signed minimum and maximum included. */
static int result_of(const struct vgpu_atomic *what, u64 old, u64 *ret)
{
	u64 sign = what->op & OP_64 ? BIT_ULL(63) : BIT_ULL(31);
	u64 value = what->value;
	bool less = (old ^ sign) < (value ^ sign);

	switch (what->op & OP_MASK) {
	case OP_SWAP:		*ret = value; break;
	case OP_COMPARE_SWAP:	*ret = old == what->compare ? value : old; break;
	case OP_ADD:		*ret = old + value; break;
	case OP_SUB:		*ret = old - value; break;
	case OP_SMIN:		*ret = less ? old : value; break;
	case OP_UMIN:		*ret = old < value ? old : value; break;
	case OP_SMAX:		*ret = less ? value : old; break;
	case OP_UMAX:		*ret = old < value ? value : old; break;
	case OP_AND:		*ret = old & value; break;
	case OP_OR:		*ret = old | value; break;
	case OP_XOR:		*ret = old ^ value; break;
	case OP_INC:		*ret = old >= value ? 0 : old + 1; break;
	case OP_DEC:		*ret = !old || old > value ? value : old - 1; break;
	default:		return -EINVAL;
	}
	return 0;
}

static int atomic_32(const struct vgpu_bus *bus, void *ctx, vgpu_space space,
		     const struct vgpu_atomic *what, u64 *ret)
{
	struct vgpu_atomic low = *what;
	u64 result;
	u32 word;
	int err;

	low.value = (u32)what->value;
	low.compare = (u32)what->compare;
	if (result_of(&low, 0, &result))
		return -EINVAL;
	err = bus->read(ctx, space, what->address, &word, sizeof(word));
	if (err)
		return err;
	result_of(&low, word, &result);
	*ret = word;
	word = (u32)result;
	return bus->write(ctx, space, what->address, &word, sizeof(word));
}

static int atomic_64(const struct vgpu_bus *bus, void *ctx, vgpu_space space,
		     const struct vgpu_atomic *what, u64 *ret)
{
	u32 op = what->op & OP_MASK;
	u64 value = op == OP_SUB ? 0 - what->value : what->value;
	u64 word = 0, result;
	int err;

	if (op == OP_ADD || op == OP_SUB) {
		err = bus->add(ctx, space, what->address, value, &word);
		*ret = word - value;
		return err;
	}
	if (result_of(what, 0, &result))
		return -EINVAL;
	err = bus->read(ctx, space, what->address, &word, sizeof(word));
	if (err)
		return err;
	result_of(what, word, &result);
	*ret = word;
	return bus->write(ctx, space, what->address, &result, sizeof(result));
}

int vgpu_atomic(const struct vgpu_bus *bus, void *ctx, vgpu_space space,
		const struct vgpu_atomic *what, u64 *ret)
{
	u64 size = what->op & OP_64 ? 8 : 4;

	*ret = 0;
	if (what->op > OP_ALL || what->address & (size - 1))
		return -EINVAL;
	if (what->op & OP_64)
		return atomic_64(bus, ctx, space, what, ret);
	return atomic_32(bus, ctx, space, what, ret);
}
