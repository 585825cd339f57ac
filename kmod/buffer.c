// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of the lanes: allocation in contiguous bunches (paper, §B.4), growth when a lane runs
 * low (§8.1), and taking back the pages that the output has let go of.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "fkt.h"

/* The paper's thresholds (§8.1), in thousandths of a lane's pages. */
static unsigned int sync_below_permille = 750;
module_param(sync_below_permille, uint, 0644);
MODULE_PARM_DESC(sync_below_permille,
		 "synchronize the file when fewer of a lane's pages are free (750)");
static unsigned int grow_below_permille = 125;
module_param(grow_below_permille, uint, 0644);
MODULE_PARM_DESC(grow_below_permille, "allocate extra pages when fewer are free (125)");
static unsigned int grow_until_permille = 250;
module_param(grow_until_permille, uint, 0644);
MODULE_PARM_DESC(grow_until_permille, "... until so many are free (250)");
static unsigned int grow_factor = 8;
module_param(grow_factor, uint, 0644);
MODULE_PARM_DESC(grow_factor, "a lane never has more than so many times its initial pages (8)");

#define FKT_GROW_FACTOR_MAX 64
#define FKT_BUNCH_ORDER_MAX 8

DEFINE_PER_CPU(struct fkt_lane *, fkt_lane);

/*
 * A lane has a page of its own, which knows itself: by it, the lane's pages are found in an image
 * of memory, when the machine has died.
 */
struct fkt_lane_page {
	struct fkt_note note;
	struct fkt_lane lane;
};

/**
 * fkt_pool_tell - record what becomes of a lane's pages, for figure 10 of the paper
 * @code: FKT_CODE_SUBMIT, _RELEASE_PAGE or _EXTRA
 * @pool: the lane's pool
 * @number: the page, as its header numbers it, or how many extra ones came (or, negative, went)
 *
 * Context: the reader, preemption on. The event may itself take a page of this lane.
 */
void fkt_pool_tell(u32 code, const struct fkt_pool *pool, u64 number)
{
	preempt_disable_notrace();
	if (fkt_on_for_all(FKT_KEY_FKT))
		FKT_EVENT(code, pool->lane->number, number,
			  fkt_pair(fkt_lane_queued(pool->lane), pool->pages));
	preempt_enable_notrace();
}

static void fkt_buf_free(struct fkt_buf *buf)
{
	put_page(buf->page);
	kfree(buf);
}

static const struct fkt_page_header *fkt_buf_header(const struct fkt_buf *buf)
{
	return page_address(buf->page);
}

/* The ring must have room for every page that is in the lane at a time, those of a reserve too. */
static u32 fkt_pool_entries(const struct fkt_pool *pool)
{
	return roundup_pow_of_two(max(pool->cap, 2 * pool->initial));
}

static u64 fkt_pool_ring_pages(const struct fkt_pool *pool)
{
	return DIV_ROUND_UP((u64)fkt_pool_entries(pool) * sizeof(*pool->ring), PAGE_SIZE);
}

/* Add the pages of one allocation to the pool's spare ones. */
static int fkt_pool_add_bunch(struct fkt_pool *pool, struct page *page, unsigned int order,
			      bool extra)
{
	unsigned int i, count = 1u << order;

	split_page(page, order);
	for (i = 0; i < count; i++) {
		struct fkt_buf *buf = kmalloc(sizeof(*buf), GFP_KERNEL);

		if (!buf)
			goto no_memory;
		buf->page = page + i;
		buf->extra = extra;
		list_add_tail(&buf->link, &pool->spare);
		pool->pages++;
		pool->extra += extra;
	}
	return 0;

no_memory:
	for (; i < count; i++)
		put_page(page + i);
	return -ENOMEM;
}

/*
 * Add @count pages, in bunches as large as there are: consecutive pages make large writes. The
 * paper halves the size recursively when a bunch can't be had; so does this, without recursion.
 */
static int fkt_pool_add(struct fkt_session *s, struct fkt_pool *pool, u32 count, bool extra)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY | __GFP_ZERO;
	unsigned int order = FKT_BUNCH_ORDER_MAX;
	int node = pool->lane->cpu == FKT_CPU_ANY ? NUMA_NO_NODE : cpu_to_node(pool->lane->cpu);
	struct page *page;
	int ret;

	if (s->trydma)
		gfp |= GFP_DMA;
	while (count) {
		while ((1u << order) > count)
			order--;
		page = alloc_pages_node(node, gfp, order);
		if (!page && order) {
			order--;
			continue;
		}
		if (!page && (gfp & GFP_DMA)) {
			gfp &= ~GFP_DMA; /* "if possible" (§B.4) */
			continue;
		}
		if (!page)
			return -ENOMEM;
		ret = fkt_pool_add_bunch(pool, page, order, extra);
		if (ret)
			return ret;
		count -= 1u << order;
	}
	return 0;
}

/* Asking for nearly all memory there is would have the OOM killer answer. */
static bool fkt_pages_fit(u64 count)
{
	return (s64)count <= si_mem_available() / 2;
}

static int fkt_pool_add_checked(struct fkt_session *s, struct fkt_pool *pool, u32 count, bool extra)
{
	if (!fkt_pages_fit(count))
		return -ENOMEM;
	return fkt_pool_add(s, pool, count, extra);
}

/*
 * Spare pages go to the lane in the order in which they came: that of their addresses, by and
 * large.
 */
static void fkt_pool_queue_spare(struct fkt_pool *pool)
{
	struct fkt_buf *buf, *next;

	list_for_each_entry_safe(buf, next, &pool->spare, link) {
		list_del_init(&buf->link);
		fkt_lane_queue(pool->lane, page_address(buf->page), buf);
	}
}

/**
 * fkt_pool_is_short - whether a lane has too few pages to be of use
 * @s: the session
 * @pool: the lane's pool
 * Context: the session's lock, or its reader mutex.
 */
bool fkt_pool_is_short(const struct fkt_session *s, const struct fkt_pool *pool)
{
	return pool->pages <
	       (fkt_overwrites(s) ? min_t(u32, pool->initial, FKT_OVERWRITE_PAGES + 1) : 1);
}

/**
 * fkt_buffer_fill - give a lane its pages
 * @s: the session
 * @pool: the lane's pool
 *
 * Context: the session's lock, or its reader mutex; may sleep. For a CPU that was not there when
 * the recording began, this is when it comes.
 * Return: 0 or -ENOMEM, with the pages that could be had queued. A reserve stays spare.
 */
int fkt_buffer_fill(struct fkt_session *s, struct fkt_pool *pool)
{
	const u32 reserve = s->conf.flags & FKT_START_RESERVE ? pool->initial : 0;
	int ret = 0;

	if (!pool->ring) {
		if (!fkt_pages_fit(pool->initial + fkt_pool_ring_pages(pool)))
			return -ENOMEM;
		pool->ring = vcalloc(fkt_pool_entries(pool), sizeof(*pool->ring));
		if (!pool->ring)
			return -ENOMEM;
		/* Probes look at it only once a page is queued: that publishes it. */
		fkt_lane_set_ring(pool->lane, pool->ring);
	}
	if (pool->pages < pool->initial)
		ret = fkt_pool_add_checked(s, pool, pool->initial - pool->pages, false);
	fkt_pool_queue_spare(pool);
	/* Not before: who overwrites queues pages itself. */
	if (fkt_overwrites(s) && !pool->held && !fkt_pool_is_short(s, pool))
		fkt_lane_release(pool->lane);
	/* What is extra does not outlive the recording. */
	if (!ret && pool->extra < reserve)
		ret = fkt_pool_add_checked(s, pool, reserve - pool->extra, true);
	return ret;
}

/**
 * fkt_kick_pages - once for how many pages a lane kicks, where no limit is near
 * @pool: the lane's pool
 */
u32 fkt_kick_pages(const struct fkt_pool *pool)
{
	return clamp_t(u32, pool->initial / 8, 1, FKT_KICK_PAGES_MAX);
}

#define FKT_NOTE_AT(member) offsetof(struct fkt_lane_page, lane.member)

static void fkt_pool_note(const struct fkt_session *s, const struct fkt_pool *pool)
{
	struct fkt_lane_page *page = container_of(pool->lane, struct fkt_lane_page, lane);

	BUILD_BUG_ON(sizeof(*page) > PAGE_SIZE);
	page->note = (struct fkt_note){
		.magic = FKT_NOTE_MAGIC,
		.bytes = sizeof(page->note),
		.lane = pool->lane->number,
		.cpu = pool->lane->cpu,
		.flags = fkt_overwrites(s) ? FKT_NOTE_OVERWRITES : 0,
		.lanes = fkt_shared(s) ? 1 : nr_cpu_ids,
		.tsc_khz = fkt_arch_clock_khz(),
		.head_at = FKT_NOTE_AT(head),
		.tail_at = FKT_NOTE_AT(tail),
		.lost_at = FKT_NOTE_AT(lost),
		.overwritten_at = FKT_NOTE_AT(overwritten),
		.overwritten_end_at = FKT_NOTE_AT(overwritten_end),
	};
	memcpy(page->note.id, s->conf.id, sizeof(page->note.id));
}

static void fkt_pool_init_lane(struct fkt_session *s, u32 i)
{
	struct fkt_pool *pool = &s->pools[i];

	if (!fkt_shared(s))
		per_cpu(fkt_lane, i) = pool->lane;
	fkt_lane_init(pool->lane, pool->ring, fkt_pool_entries(pool), i,
		      fkt_shared(s) ? FKT_CPU_ANY : i, fkt_overwrites(s) ? 0 : fkt_kick_pages(pool),
		      s->conf.id);
	fkt_pool_note(s, pool);
}

static int fkt_pool_init(struct fkt_session *s, u32 i)
{
	struct fkt_pool *pool = &s->pools[i];
	int node = fkt_shared(s) ? NUMA_NO_NODE : cpu_to_node(i);
	struct page *page;

	/* That of a CPU that is not there may not be there, either. */
	if (node != NUMA_NO_NODE && !node_online(node))
		node = NUMA_NO_NODE;
	page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);
	if (!page)
		return -ENOMEM;
	INIT_LIST_HEAD(&pool->out);
	INIT_LIST_HEAD(&pool->spare);
	pool->lane = &((struct fkt_lane_page *)page_address(page))->lane;
	pool->initial = 1u << s->pow;
	pool->present = fkt_shared(s);
	pool->cap = pool->initial * clamp_t(u32, grow_factor, 1, FKT_GROW_FACTOR_MAX);
	return 0;
}

/**
 * fkt_buffer_alloc - make the lanes for a recording, or make those of the last one ready again
 * @s: the session
 *
 * Context: the session's lock, no recording; may sleep. The lanes are empty: fkt_buffer_fill()
 * gives them pages.
 * Return: 0 or -ENOMEM.
 */
int fkt_buffer_alloc(struct fkt_session *s)
{
	u32 i, count = fkt_shared(s) ? 1 : nr_cpu_ids;

	if (s->pools && (s->pools_shared != fkt_shared(s) || s->pools_pow != s->pow ||
			 s->pools_dma != s->trydma))
		fkt_buffer_free(s);
	if (!s->pools) {
		s->pools = kvcalloc(count, sizeof(*s->pools), GFP_KERNEL);
		if (!s->pools)
			return -ENOMEM;
		s->pools_shared = fkt_shared(s);
		s->pools_pow = s->pow;
		s->pools_dma = s->trydma;
		for (i = 0; i < count; i++) {
			if (fkt_pool_init(s, i)) {
				fkt_buffer_free(s);
				return -ENOMEM;
			}
			s->pools_count = i + 1;
		}
	}
	for (i = 0; i < count; i++) {
		s->pools[i].events = 0;
		s->pools[i].pages_out = 0;
		s->pools[i].discarded = 0;
		s->pools[i].held = false;
		s->pools[i].lost_before = 0;
		fkt_pool_init_lane(s, i);
	}
	return 0;
}

static void fkt_pool_forget(struct fkt_pool *pool, struct fkt_buf *buf)
{
	list_del(&buf->link);
	pool->pages--;
	pool->extra -= buf->extra;
	fkt_buf_free(buf);
}

/**
 * fkt_buffer_settle - after a recording, gather the pages for the next one
 * @s: the session
 *
 * Extra pages, and pages that the output still holds on to, are given up: the latter are freed when
 * it lets go.
 *
 * Context: the session's lock, no probe can run and nobody reads.
 */
void fkt_buffer_settle(struct fkt_session *s)
{
	struct fkt_buf *buf, *next;
	u32 i;

	for (i = 0; i < s->pools_count; i++) {
		struct fkt_pool *pool = &s->pools[i];

		list_for_each_entry_safe(buf, next, &pool->out, link) {
			if (page_ref_count(buf->page) == 1)
				list_move_tail(&buf->link, &pool->spare);
			else
				fkt_pool_forget(pool, buf);
		}
		pool->out_count = 0;
		while ((buf = fkt_lane_unqueue(pool->lane)))
			list_add(&buf->link, &pool->spare);
		list_for_each_entry_safe(buf, next, &pool->spare, link)
			if (buf->extra)
				fkt_pool_forget(pool, buf);
	}
}

/* What is left of it in memory is not to be taken for that of a recording. */
static void fkt_pool_exit(struct fkt_pool *pool)
{
	struct fkt_lane_page *page = container_of(pool->lane, struct fkt_lane_page, lane);

	if (pool->ring)
		memset(pool->ring, 0, fkt_pool_entries(pool) * sizeof(*pool->ring));
	vfree(pool->ring);
	if (pool->lane->cpu != FKT_CPU_ANY)
		per_cpu(fkt_lane, pool->lane->cpu) = NULL;
	memset(page, 0, sizeof(*page));
	put_page(virt_to_page(page));
}

/**
 * fkt_buffer_free - give back all memory
 * @s: the session
 * Context: the session's lock, no recording, all pages settled.
 */
void fkt_buffer_free(struct fkt_session *s)
{
	struct fkt_buf *buf, *next;
	u32 i;

	for (i = 0; i < s->pools_count; i++) {
		struct fkt_pool *pool = &s->pools[i];

		list_for_each_entry_safe(buf, next, &pool->spare, link)
			fkt_pool_forget(pool, buf);
		fkt_pool_exit(pool);
	}
	kvfree(s->pools);
	s->pools = NULL;
	s->pools_count = 0;
}

/**
 * fkt_buffer_reclaim - take back the pages that the output has let go of, and queue them again
 * @pool: the pool
 *
 * Context: the reader.
 */
void fkt_buffer_reclaim(struct fkt_pool *pool)
{
	struct fkt_buf *buf, *next;
	u64 number;

	list_for_each_entry_safe(buf, next, &pool->out, link) {
		/*
		 * Ours is the last reference: whoever had the others dropped them with a full
		 * barrier after the last use of the page, and nobody can take a new one. Pages come
		 * back in the order in which they went out, so the order of addresses stays (§3).
		 */
		if (page_ref_count(buf->page) != 1)
			continue;
		number = fkt_buf_header(buf)->seq;
		pool->out_count--;
		if (buf->extra && fkt_lane_queued(pool->lane) * 1000ull >
					  (u64)pool->pages * sync_below_permille) {
			fkt_pool_forget(pool, buf);
			fkt_pool_tell(FKT_CODE_RELEASE_PAGE, pool, number);
			fkt_pool_tell(FKT_CODE_EXTRA, pool, -1);
			continue;
		}
		list_del_init(&buf->link);
		fkt_lane_queue(pool->lane, page_address(buf->page), buf);
		fkt_pool_tell(FKT_CODE_RELEASE_PAGE, pool, number);
	}
}

/**
 * fkt_buffer_service - keep every lane in pages (§8.1)
 * @s: the session
 *
 * Context: the reader; may sleep.
 * Return: whether a lane is so low that the output should be synchronized.
 */
bool fkt_buffer_service(struct fkt_session *s)
{
	bool low = false;
	u32 i;

	for (i = 0; i < s->pools_count; i++) {
		struct fkt_pool *pool = &s->pools[i];
		u64 free_permille;
		u32 want, had;

		/* A CPU for which there was no memory when it came loses events until there is. */
		if (fkt_pool_is_short(s, pool) && pool->present && !pool->held &&
		    fkt_state_now(s) == FKT_STATE_RECORDING)
			(void)fkt_buffer_fill(s, pool);
		if (!pool->pages)
			continue; /* a CPU that is not there */
		if (fkt_overwrites(s) && fkt_state_now(s) == FKT_STATE_RECORDING) {
			fkt_snapshot_service(pool); /* it is always full, and does not grow */
			continue;
		}
		fkt_buffer_reclaim(pool);
		free_permille = fkt_lane_queued(pool->lane) * 1000ull / pool->pages;
		if (free_permille < sync_below_permille)
			low = true;
		if (free_permille >= grow_below_permille || fkt_state_now(s) != FKT_STATE_RECORDING)
			continue;
		want = (u64)pool->pages * (grow_until_permille - free_permille) / 1000 + 1;
		if (grow_until_permille <= free_permille || pool->pages >= pool->cap)
			continue;
		/*
		 * What can't be had is not there: the events that it would have held are counted.
		 */
		had = pool->pages;
		(void)fkt_pool_add(s, pool, min(want, pool->cap - pool->pages), true);
		fkt_pool_queue_spare(pool);
		if (pool->pages != had)
			fkt_pool_tell(FKT_CODE_EXTRA, pool, pool->pages - had);
	}
	return low;
}
