/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The kernel functions that make up the layers 1 to 6 (paper, §B.5), in the order of their way from
 * the wire, or the disk, to the program.
 *
 * X(LAYER, "function"): entry and exit of the function. Where kernels differ, several names stand
 * with | between them, and the first one that the running kernel has counts. A row of which it has
 * none is left out.
 */
#ifndef FKT_LAYERS_H
#define FKT_LAYERS_H

/* clang-format off */
#define FKT_LAYER_FUNCTIONS(X)                                                                     \
	X(NETDRV, "__napi_poll")                                                                   \
	X(NETDRV, "process_backlog")                                                               \
	X(NETDRV, "napi_complete_done")                                                            \
	X(NETDRV, "napi_gro_receive")                                                              \
	X(NETDRV, "netif_rx_internal")                                                             \
	X(NETDRV, "netif_receive_skb")                                                             \
	X(NETDRV, "__netif_receive_skb")                                                           \
	X(NETDRV, "netif_receive_skb_list_internal")                                               \
	X(NETDRV, "__dev_queue_xmit")                                                              \
	X(NETDRV, "sch_direct_xmit")                                                               \
	X(NETDRV, "dev_hard_start_xmit")                                                           \
	X(NETWORK, "ip_rcv")                                                                       \
	X(NETWORK, "ip_list_rcv")                                                                  \
	X(NETWORK, "ip_local_deliver")                                                             \
	X(NETWORK, "ip_forward")                                                                   \
	X(NETWORK, "ip_defrag")                                                                    \
	X(NETWORK, "ip_route_input_noref")                                                         \
	X(NETWORK, "ip_route_output_key_hash")                                                     \
	X(NETWORK, "__ip_queue_xmit")                                                              \
	X(NETWORK, "ip_send_skb")                                                                  \
	X(NETWORK, "ip_output")                                                                    \
	X(NETWORK, "ip_do_fragment")                                                               \
	X(NETWORK, "icmp_rcv")                                                                     \
	X(NETWORK, "__icmp_send")                                                                  \
	X(NETWORK, "ipv6_rcv")                                                                     \
	X(NETWORK, "ipv6_list_rcv")                                                                \
	X(NETWORK, "ip6_input")                                                                    \
	X(NETWORK, "ip6_forward")                                                                  \
	X(NETWORK, "ipv6_frag_rcv")                                                                \
	X(NETWORK, "ip6_route_input")                                                              \
	X(NETWORK, "ip6_route_output_flags")                                                       \
	X(NETWORK, "ip6_xmit")                                                                     \
	X(NETWORK, "ip6_send_skb")                                                                 \
	X(NETWORK, "ip6_output")                                                                   \
	X(NETWORK, "ip6_fragment")                                                                 \
	X(NETWORK, "icmpv6_rcv")                                                                   \
	X(NETWORK, "icmp6_send")                                                                   \
	X(NETWORK, "sk_skb_reason_drop|kfree_skb_reason")                                          \
	X(TRANSPORT, "tcp_v4_rcv")                                                                 \
	X(TRANSPORT, "tcp_v6_rcv")                                                                 \
	X(TRANSPORT, "tcp_rcv_established")                                                        \
	X(TRANSPORT, "tcp_rcv_state_process")                                                      \
	X(TRANSPORT, "tcp_ack")                                                                    \
	X(TRANSPORT, "tcp_data_queue")                                                             \
	X(TRANSPORT, "tcp_v4_connect")                                                             \
	X(TRANSPORT, "tcp_v6_connect")                                                             \
	X(TRANSPORT, "tcp_sendmsg")                                                                \
	X(TRANSPORT, "tcp_recvmsg")                                                                \
	X(TRANSPORT, "tcp_write_xmit")                                                             \
	X(TRANSPORT, "__tcp_transmit_skb")                                                         \
	X(TRANSPORT, "__tcp_retransmit_skb")                                                       \
	X(TRANSPORT, "__tcp_send_ack")                                                             \
	X(TRANSPORT, "tcp_send_fin")                                                               \
	X(TRANSPORT, "tcp_close")                                                                  \
	X(TRANSPORT, "udp_rcv")                                                                    \
	X(TRANSPORT, "udpv6_rcv")                                                                  \
	X(TRANSPORT, "udp_sendmsg")                                                                \
	X(TRANSPORT, "udpv6_sendmsg")                                                              \
	X(TRANSPORT, "udp_recvmsg")                                                                \
	X(TRANSPORT, "udpv6_recvmsg")                                                              \
	X(SOCKET, "__sock_create")                                                                 \
	X(SOCKET, "__sock_release")                                                                \
	X(SOCKET, "inet_bind")                                                                     \
	X(SOCKET, "inet6_bind")                                                                    \
	X(SOCKET, "unix_bind")                                                                     \
	X(SOCKET, "inet_listen")                                                                   \
	X(SOCKET, "inet_stream_connect")                                                           \
	X(SOCKET, "inet_dgram_connect")                                                            \
	X(SOCKET, "unix_stream_connect")                                                           \
	X(SOCKET, "inet_accept")                                                                   \
	X(SOCKET, "unix_accept")                                                                   \
	X(SOCKET, "sock_sendmsg")                                                                  \
	X(SOCKET, "__sys_sendto")                                                                  \
	X(SOCKET, "__sys_sendmsg")                                                                 \
	X(SOCKET, "sock_write_iter")                                                               \
	X(SOCKET, "inet_sendmsg")                                                                  \
	X(SOCKET, "inet6_sendmsg")                                                                 \
	X(SOCKET, "unix_stream_sendmsg")                                                           \
	X(SOCKET, "unix_dgram_sendmsg")                                                            \
	X(SOCKET, "sock_recvmsg")                                                                  \
	X(SOCKET, "inet_recvmsg")                                                                  \
	X(SOCKET, "inet6_recvmsg")                                                                 \
	X(SOCKET, "unix_stream_recvmsg")                                                           \
	X(SOCKET, "unix_dgram_recvmsg")                                                            \
	X(SOCKET, "sock_poll")                                                                     \
	X(SOCKET, "inet_shutdown")                                                                 \
	X(BLOCK, "submit_bio_noacct_nocheck")                                                      \
	X(BLOCK, "bio_attempt_back_merge")                                                         \
	X(BLOCK, "bio_attempt_front_merge")                                                        \
	X(BLOCK, "blk_mq_submit_bio")                                                              \
	X(BLOCK, "blk_mq_insert_request|blk_mq_sched_insert_request")                              \
	X(BLOCK, "blk_mq_sched_insert_requests")                                                   \
	X(BLOCK, "blk_mq_dispatch_rq_list")                                                        \
	X(BLOCK, "blk_mq_start_request")                                                           \
	X(BLOCK, "blk_mq_requeue_request")                                                         \
	X(BLOCK, "blk_mq_complete_request")                                                        \
	X(BLOCK, "blk_update_request")                                                             \
	X(BLOCK, "blk_mq_end_request")                                                             \
	X(BLOCK, "blk_mq_end_request_batch")                                                       \
	X(BLOCK, "bio_endio")                                                                      \
	X(BLOCK, "scsi_queue_rq")                                                                  \
	X(BLOCK, "scsi_done")                                                                      \
	X(BLOCK, "scsi_io_completion")                                                             \
	X(BLOCK, "scsi_finish_command")                                                            \
	X(FILES, "do_sys_openat2")                                                                 \
	X(FILES, "path_openat")                                                                    \
	X(FILES, "vfs_open")                                                                       \
	X(FILES, "filename_lookup")                                                                \
	X(FILES, "__lookup_slow")                                                                  \
	X(FILES, "d_alloc_parallel")                                                               \
	X(FILES, "filp_close")                                                                     \
	X(FILES, "vfs_read")                                                                       \
	X(FILES, "vfs_readv")                                                                      \
	X(FILES, "vfs_write")                                                                      \
	X(FILES, "vfs_writev")                                                                     \
	X(FILES, "vfs_llseek")                                                                     \
	X(FILES, "vfs_fsync_range")                                                                \
	X(FILES, "vfs_truncate|do_truncate")                                                       \
	X(FILES, "vfs_unlink")                                                                     \
	X(FILES, "vfs_rename")                                                                     \
	X(FILES, "vfs_mkdir")                                                                      \
	X(FILES, "iterate_dir")                                                                    \
	X(FILES, "filemap_get_pages")                                                              \
	X(FILES, "filemap_fault")                                                                  \
	X(FILES, "filemap_add_folio")                                                              \
	X(FILES, "page_cache_ra_unbounded")                                                        \
	X(FILES, "page_cache_ra_order")                                                            \
	X(FILES, "generic_perform_write")                                                          \
	X(FILES, "balance_dirty_pages")                                                            \
	X(FILES, "do_writepages")                                                                  \
	X(FILES, "__writeback_single_inode")                                                       \
	X(FILES, "file_write_and_wait_range")                                                      \
	X(FILES, "folio_wait_writeback")                                                           \
	X(FILES, "hrtimer_nanosleep")                                                              \
	X(FILES, "do_select")                                                                      \
	X(FILES, "do_sys_poll")                                                                    \
	X(FILES, "do_epoll_wait")                                                                  \
	X(FILES, "pipe_read")                                                                      \
	X(FILES, "pipe_write")                                                                     \
	X(FILES, "futex_wait")
/* clang-format on */

#endif
