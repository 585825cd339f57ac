// SPDX-License-Identifier: GPL-2.0-only
/* Functions whose arguments lead to something, as their debug information says. */
#include <stddef.h>

struct point {
	int x;
	int y;
};

enum kind {
	CIRCLE = 1,
	SQUARE = 7
};

struct shape {
	const char *label;
	char name[12];
	struct point at;
	unsigned int visible : 1;
	unsigned int layer : 7;
	enum kind kind;
	const struct shape *next;
	short sizes[3];
	union {
		long area;
		double length;
	};
	struct hidden *hidden;
};

long use_shape(const struct shape *shape, double scale, int n, struct point by, const char *text,
	       float least, unsigned char last, long on_stack);
const struct shape *next_shape(const struct shape *shape);

#define NOINLINE __attribute__((noinline, noclone, noipa, used))

static volatile long sink;

NOINLINE long use_shape(const struct shape *shape, double scale, int n, struct point by,
			const char *text, float least, unsigned char last, long on_stack)
{
	sink = shape->area + (long)scale + n + by.x + *text + (long)least + last;
	return on_stack;
}

NOINLINE const struct shape *next_shape(const struct shape *shape)
{
	sink = shape->area;
	return shape->next;
}

/* What is only declared where it is used. */
struct hidden {
	int found;
};

int main(void)
{
	struct hidden hidden = { 77 };
	const struct shape second = { .label = "second", .name = "square", .kind = SQUARE };
	const struct shape first = { "first", "circle",	    { -3, 4 },	    1,	    100, CIRCLE,
				     &second, { 1, -2, 3 }, { .area = 12 }, &hidden };

	for (const struct shape *shape = &first; shape; shape = next_shape(shape))
		use_shape(shape, 2.5, -1, (struct point){ 5, 6 }, "a text", 0.5f, 200, 1000);
	return 0;
}
