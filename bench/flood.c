/*
 * An open-loop load: requests leave when they are due, whether or not earlier ones were answered, as visitors do.
 * One thread, epoll. Prints one line of JSON.
 *
 *   flood ADDRESS PORT CONNECTIONS RATE SECONDS REQUESTS [SOURCE]
 *
 * REQUESTS is a file of HTTP requests, each ended by a NUL byte, sent in turn. RATE 0 is a closed loop: every
 * connection sends again as soon as it was answered. SOURCE is the address that connections come from. Beside the
 * load, /healthz is asked for every 50 ms on a connection of its own, made for that request.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUFFER 16384
#define PROBES 64
#define PROBE_EVERY 0.05
#define LATENCIES 400000 /* of 0.1 ms each: 40 s */
#define SECONDS_MAX 600
#define BACKLOG_MAX 1.0 /* a request that found no free connection for so long was not sent */

typedef struct {
  int fd, connected, probe;
  double due;          /* 0: nothing under way */
  const char *out;     /* what is left to send */
  size_t left;
  size_t have;         /* bytes of the answer so far */
  long body;           /* bytes of the body to come, -1 before the head is there */
  int status;
  char in[BUFFER];
} Conn;

static struct sockaddr_in target, source;
static int has_source, epoll, connections;
static Conn *conns;
static int *idle, idle_head, idle_count;
static char **requests;
static size_t *lengths, request_count, turn;
static uint32_t *histogram, *health;
static long good, refused, other, failed, unsent, sent, health_count, health_failed, timeline[SECONDS_MAX];
static double began, good_within = 2.0;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void count(uint32_t *in, double seconds) {
  long slot = seconds * 10000;
  in[slot < 0 ? 0 : slot >= LATENCIES ? LATENCIES - 1 : slot]++;
}

static double quantile(const uint32_t *of, double q) {
  long all = 0, seen = 0;
  for (int i = 0; i < LATENCIES; i++) all += of[i];
  for (int i = 0; i < LATENCIES; i++)
    if ((seen += of[i]) > 0 && seen >= q * all) return i / 10.0;
  return 0;
}

static void watch(Conn *c, int op, uint32_t events) {
  struct epoll_event e = {.events = events, .data.ptr = c};
  epoll_ctl(epoll, op, c->fd, &e);
}

static void make_idle(Conn *c) {
  idle[(idle_head + idle_count++) % connections] = c - conns;
}

static void open_connection(Conn *c) {
  int one = 1;
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (c->fd < 0) { perror("socket"); exit(1); }
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  if (has_source && !c->probe) bind(c->fd, (struct sockaddr *)&source, sizeof source);
  c->connected = 0;
  c->have = 0;
  c->body = -1;
  if (connect(c->fd, (struct sockaddr *)&target, sizeof target) < 0 && errno != EINPROGRESS) { perror("connect"); exit(1); }
  watch(c, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

static void flush(Conn *c) {
  ssize_t n = send(c->fd, c->out, c->left, MSG_NOSIGNAL);
  if (n > 0) { c->out += n; c->left -= n; }
}

static void start(Conn *c, double due) {
  c->due = due;
  c->out = requests[turn % request_count];
  c->left = lengths[turn++ % request_count];
  sent++;
  flush(c);
}

static void ended(Conn *c, double at) {
  double took = at - c->due;
  if (c->probe) {
    count(health, took);
    health_count++;
    if (c->status != 200) health_failed++;
  } else {
    if (c->status >= 200 && c->status < 300 && took <= good_within) {
      good++;
      count(histogram, took);
      long second = at - began;
      if (second >= 0 && second < SECONDS_MAX) timeline[second]++;
    } else if (c->status == 503) refused++;
    else other++;
  }
  c->due = 0;
  c->have = 0;
  c->body = -1;
}

static void drop(Conn *c) {
  if (c->due > 0) { if (c->probe) health_failed++; else failed++; }
  c->due = 0;
  close(c->fd);
  c->fd = -1;
}

/* Reads what is there; 1 when the answer is complete, -1 when the connection is gone. */
static int receive(Conn *c) {
  for (;;) {
    if (c->have >= BUFFER - 1) c->have = BUFFER / 2; /* a long body: its bytes are counted, not kept */
    ssize_t n = recv(c->fd, c->in + c->have, BUFFER - 1 - c->have, 0);
    if (n == 0) return -1;
    if (n < 0) return errno == EAGAIN ? 0 : -1;
    if (c->body < 0) {
      c->have += n;
      c->in[c->have] = 0;
      char *end = strstr(c->in, "\r\n\r\n");
      if (end == NULL) continue;
      c->status = atoi(c->in + 9);
      char *length = strcasestr(c->in, "\r\ncontent-length:");
      c->body = length != NULL && length < end ? atol(length + 17) : 0;
      c->body -= c->have - (end + 4 - c->in);
    } else c->body -= n;
    if (c->body <= 0) return 1;
  }
}

int main(int argc, char **argv) {
  if (argc < 7) { fprintf(stderr, "flood ADDRESS PORT CONNECTIONS RATE SECONDS REQUESTS [SOURCE]\n"); return 2; }
  struct rlimit files = {65536, 65536};
  if (setrlimit(RLIMIT_NOFILE, &files) < 0) { getrlimit(RLIMIT_NOFILE, &files); files.rlim_cur = files.rlim_max; setrlimit(RLIMIT_NOFILE, &files); }
  target = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
  inet_pton(AF_INET, argv[1], &target.sin_addr);
  connections = atoi(argv[3]);
  double rate = atof(argv[4]), seconds = atof(argv[5]);
  if (argc > 7) {
    has_source = 1;
    source = (struct sockaddr_in){.sin_family = AF_INET};
    inet_pton(AF_INET, argv[7], &source.sin_addr);
  }
  FILE *file = fopen(argv[6], "r");
  if (file == NULL) { perror(argv[6]); return 1; }
  char *text = NULL;
  size_t capacity = 0;
  ssize_t length;
  while ((length = getdelim(&text, &capacity, 0, file)) > 1) {
    requests = realloc(requests, (request_count + 1) * sizeof *requests);
    lengths = realloc(lengths, (request_count + 1) * sizeof *lengths);
    requests[request_count] = text;
    lengths[request_count++] = length - 1;
    text = NULL;
    capacity = 0;
  }
  histogram = calloc(LATENCIES, sizeof *histogram);
  health = calloc(LATENCIES, sizeof *health);
  conns = calloc(connections + PROBES, sizeof *conns);
  idle = calloc(connections, sizeof *idle);
  epoll = epoll_create1(0);
  for (int i = 0; i < connections; i++) open_connection(&conns[i]);
  for (int i = connections; i < connections + PROBES; i++) { conns[i].fd = -1; conns[i].probe = 1; }

  const char probe[] = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  began = now();
  double due = began, next_probe = began;
  struct epoll_event events[1024];
  double at;
  while ((at = now()) < began + seconds) {
    if (rate > 0) {
      while (due <= at) {
        if (idle_count > 0) {
          Conn *c = &conns[idle[idle_head]];
          idle_head = (idle_head + 1) % connections;
          idle_count--;
          if (c->fd >= 0) start(c, due);
        } else if (at - due > BACKLOG_MAX) unsent++;
        else break;
        due += 1 / rate;
      }
    } else
      while (idle_count > 0) {
        Conn *c = &conns[idle[idle_head]];
        idle_head = (idle_head + 1) % connections;
        idle_count--;
        if (c->fd >= 0) start(c, at);
      }
    if (at >= next_probe) {
      next_probe += PROBE_EVERY;
      for (int i = connections; i < connections + PROBES; i++)
        if (conns[i].fd < 0) {
          conns[i].due = at;
          conns[i].out = probe;
          conns[i].left = sizeof probe - 1;
          open_connection(&conns[i]);
          break;
        }
    }
    int n = epoll_wait(epoll, events, 1024, 1);
    at = now();
    for (int i = 0; i < n; i++) {
      Conn *c = events[i].data.ptr;
      if (c->fd < 0) continue;
      if ((events[i].events & EPOLLOUT) && !c->connected) {
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error == 0) {
          c->connected = 1;
          watch(c, EPOLL_CTL_MOD, EPOLLIN);
          if (c->probe) flush(c);
          else make_idle(c);
        }
      }
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        int was_connected = c->connected, had = c->due > 0;
        int got = receive(c);
        if (got > 0 && had) {
          ended(c, at);
          if (c->probe) { close(c->fd); c->fd = -1; }
          else make_idle(c);
        } else if (got < 0) {
          drop(c);
          if (!c->probe) {
            if (was_connected && !had) { /* it stands among the idle: leave it there, made anew */
              for (int k = 0; k < idle_count; k++)
                if (idle[(idle_head + k) % connections] == c - conns) {
                  idle[(idle_head + k) % connections] = idle[idle_head];
                  idle_head = (idle_head + 1) % connections;
                  idle_count--;
                  break;
                }
            }
            open_connection(c);
          }
        }
      }
    }
  }
  long under_way = 0, probes_left = 0;
  for (int i = 0; i < connections; i++) under_way += conns[i].due > 0;
  for (int i = connections; i < connections + PROBES; i++)
    if (conns[i].fd >= 0 && at - conns[i].due > 1) { probes_left++; count(health, at - conns[i].due); }
  printf("{\"sent\":%ld,\"good\":%ld,\"refused\":%ld,\"other\":%ld,\"failed\":%ld,\"unsent\":%ld,\"under_way\":%ld,"
         "\"p50\":%.1f,\"p99\":%.1f,\"health\":%ld,\"health_failed\":%ld,\"health_p50\":%.1f,\"health_p99\":%.1f,\"by_second\":[",
         sent, good, refused, other, failed, unsent, under_way, quantile(histogram, 0.5), quantile(histogram, 0.99),
         health_count, health_failed + probes_left, quantile(health, 0.5), quantile(health, 0.99));
  for (int i = 0; i < (int)seconds && i < SECONDS_MAX; i++) printf("%s%ld", i ? "," : "", timeline[i]);
  printf("]}\n");
  return 0;
}
