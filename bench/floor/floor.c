/* The lower bound of running a command hook, without an interpreter.
 *
 * usage: floor PROGRAM [ARGUMENT ...]
 *
 * Reads requests "COUNT INFLIGHT\n" on stdin. For each it runs the command COUNT times, at most INFLIGHT at once,
 * and answers with one line: the total and then every single run in nanoseconds. Each run does what a command hook
 * needs and no more: three pipes, one kilobyte of stdin, a new session, both outputs read to their end, exit
 * noticed by a pidfd. Staying alive between requests lets the caller interleave it with other contenders.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { OUT, ERR, EXIT, SOURCES, MAX_INFLIGHT = 256 };

struct run {
    pid_t pid;
    int fd[SOURCES];
    int open;
    int64_t began;
};

static struct run runs[MAX_INFLIGHT];
static char payload[1024];
static char **command;
static int epoll;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void watch(int slot, int source) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)(slot * SOURCES + source)};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, runs[slot].fd[source], &event)) die("epoll_ctl");
}

static void start(int slot) {
    struct run *run = &runs[slot];
    int in[2], out[2], err[2];
    run->began = now();
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) die("pipe2");
    if (write(in[1], payload, sizeof payload) != sizeof payload) die("write");
    close(in[1]);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    int failed = posix_spawn(&run->pid, command[0], &actions, &attributes, command, environ);
    if (failed) {
        errno = failed;
        die(command[0]);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);

    close(in[0]);
    close(out[1]);
    close(err[1]);
    run->fd[OUT] = out[0];
    run->fd[ERR] = err[0];
    run->fd[EXIT] = (int)syscall(SYS_pidfd_open, run->pid, 0);
    if (run->fd[EXIT] < 0) die("pidfd_open");
    run->open = SOURCES;
    for (int source = 0; source < SOURCES; source++) watch(slot, source);
}

/* The child may still hold copies of our descriptors: unregister before closing, or a stale key keeps firing. */
static void drop(struct run *run, int source) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, run->fd[source], NULL);
    close(run->fd[source]);
    run->open--;
}

static void serve(struct run *run, int source) {
    static char buffer[65536];
    if (source == EXIT) {
        int status;
        if (waitpid(run->pid, &status, 0) != run->pid || status != 0) die("waitpid");
        drop(run, source);
        return;
    }
    ssize_t got = read(run->fd[source], buffer, sizeof buffer);
    if (got == 0) drop(run, source);
    if (got < 0 && errno != EAGAIN) die("read");
}

static void batch(int count, int inflight, int64_t *taken) {
    int started = 0, done = 0;
    for (; started < inflight && started < count; started++) start(started);
    while (done < count) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1);
        if (ready < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < ready; i++) {
            int slot = (int)(events[i].data.u32 / SOURCES);
            serve(&runs[slot], (int)(events[i].data.u32 % SOURCES));
            if (runs[slot].open) continue;
            taken[done++] = now() - runs[slot].began;
            if (started++ < count) start(slot);
        }
    }
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: floor PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    command = argv + 1;
    memset(payload, 'x', sizeof payload);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) die("epoll_create1");

    int count, inflight;
    while (scanf("%d %d", &count, &inflight) == 2) {
        if (count < 1 || inflight < 1 || inflight > MAX_INFLIGHT) die("COUNT >= 1 and 1 <= INFLIGHT <= 256");
        int64_t *taken = calloc((size_t)count, sizeof *taken);
        if (!taken) die("calloc");
        int64_t began = now();
        batch(count, inflight, taken);
        printf("%lld", (long long)(now() - began));
        for (int i = 0; i < count; i++) printf(" %lld", (long long)taken[i]);
        printf("\n");
        fflush(stdout);
        free(taken);
    }
    return 0;
}
