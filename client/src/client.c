/* hookwright-client: the commands hook, fire and worker of Hookwright, answered by its daemon.
 *
 * It sends arguments, directory, environment and stdin over a private socket and prints the answer. Anything else than
 * one whole answer in time, from a daemon of the same user, sends the work down the cold path: `hookwright` itself, or
 * for `worker` the command. If that cannot be started either, `hook` refuses with status 2. The protocol is described in
 * src/hookwright/resident/messages.py, the place of the socket in places.py. Every other command becomes `hookwright`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

extern char **environ;

#define MAGIC "hookwright 1\n"
enum { LONGEST = 16 << 20, MOST = 100000 };
/* Milliseconds until the first sign of life, between two of them, and for a silent stdin of `fire`. */
enum { PATIENCE = 2000, SILENCE = 5000, WAIT = 300 };
enum { REFUSED = 2, FAILED = 1, NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

struct bytes {
    unsigned char *data;
    size_t size, room;
};

static char program[PATH_MAX];  /* the cold path: `hookwright` beside this file, else the one in PATH */
static char place[108];         /* the socket */
static struct bytes input;      /* stdin, if it was read */
static int was_read;
static int64_t began;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void say(const char *text) {
    if (write(2, text, strlen(text)) < 0) {
        return; /* nobody reads it */
    }
}

static int grow(struct bytes *b, size_t more) {
    if (b->size + more > b->room) {
        size_t room = (b->size + more) * 2 + 4096;
        unsigned char *data = realloc(b->data, room);
        if (!data) return -1;
        b->data = data;
        b->room = room;
    }
    return 0;
}

static int append(struct bytes *b, const void *data, size_t size) {
    if (grow(b, size)) return -1;
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
    return 0;
}

static int append_number(struct bytes *b, size_t n) {
    unsigned char raw[4] = {n & 255, (n >> 8) & 255, (n >> 16) & 255, (n >> 24) & 255};
    return append(b, raw, 4);
}

static int append_string(struct bytes *b, const void *data, size_t size) {
    return size > LONGEST || append_number(b, size) || append(b, data, size) ? -1 : 0;
}

static size_t number(const unsigned char *raw) {
    return raw[0] | (size_t)raw[1] << 8 | (size_t)raw[2] << 16 | (size_t)raw[3] << 24;
}

static int read_input(const char *command);

/* ── the cold path ───────────────────────────────────────────────────────── */

/* Return whether the agent was already sent back to work at the end of this turn: then it may stop. */
static int is_returning(void) {
    static const char key[] = "\"stop_hook_active\"";
    if (!was_read && read_input("hook")) return 0;
    for (size_t at = 0; at + sizeof key <= input.size; at++) {
        if (memcmp(input.data + at, key, sizeof key - 1)) continue;
        size_t end = at + sizeof key - 1;
        while (end < input.size && strchr(" \t\r\n:", input.data[end])) end++;
        return end + 4 <= input.size && !memcmp(input.data + end, "true", 4);
    }
    return 0;
}

static void refuse(char **argv, const char *why) __attribute__((noreturn));
static void refuse(char **argv, const char *why) {
    const char *agent = "AGENT";
    char text[PATH_MAX + 512];
    for (int i = 2; argv[i]; i++) {
        if (!strcmp(argv[i], "--from") && argv[i + 1]) agent = argv[i + 1];
        if (!strncmp(argv[i], "--from=", 7)) agent = argv[i] + 7;
    }
    snprintf(text, sizeof text,
             "Hookwright could not run your hooks: %s: %s. Until that is solved this is refused. "
             "To switch the hooks off, run: hookwright export --to %.64s --remove\n",
             program[0] ? program : "hookwright", why, agent);
    say(text);
    _exit(is_returning() ? FAILED : REFUSED);
}

/* Let the next program read the stdin that this one has read. */
static int give_back(void) {
#ifdef __linux__
    int file = memfd_create("stdin", MFD_CLOEXEC);
#else
    FILE *temporary = tmpfile();
    int file = temporary ? fileno(temporary) : -1;
#endif
    size_t sent = 0;
    if (file < 0) return -1;
    while (sent < input.size) {
        ssize_t n = write(file, input.data + sent, input.size - sent);
        if (n <= 0) return -1;
        sent += (size_t)n;
    }
    return lseek(file, 0, SEEK_SET) || dup2(file, 0) < 0 ? -1 : 0;
}

static int cold(char **argv) {
    int is_hook = argv[1] && !strcmp(argv[1], "hook");
    if (was_read && give_back()) {
        if (is_hook) refuse(argv, "its input cannot be kept");
        say("hookwright-client: its input cannot be kept\n");
        return FAILED;
    }
    if (argv[1] && !strcmp(argv[1], "worker")) {
        char **command = argv + 2;
        if (*command && !strcmp(*command, "--resident")) command++;
        if (*command && !strcmp(*command, "--")) command++;
        if (*command) {
            execvp(*command, command);
            int missing = errno == ENOENT;
            fprintf(stderr, "hookwright-client: %s: %s\n", *command, strerror(errno));
            return missing ? NOT_FOUND : NOT_EXECUTABLE;
        }
    }
    if (is_hook) {
        char text[32];
        snprintf(text, sizeof text, "%.3f", (double)(now() - began) / 1000);
        setenv("HOOKWRIGHT_ELAPSED", text, 1);
    }
    int kept = 1;
    for (int i = 1; argv[i]; i++) {
        if (strcmp(argv[i], "--fast")) argv[kept++] = argv[i];
    }
    argv[kept] = NULL;
    argv[0] = program;
    errno = ENOENT;
    if (program[0]) execv(program, argv);
    if (is_hook) refuse(argv, strerror(errno));
    fprintf(stderr, "hookwright-client: hookwright cannot be started: %s\n", strerror(errno));
    return FAILED;
}

/* ── where the daemon is ─────────────────────────────────────────────────── */

static int is_program(const char *folder, size_t size) {
    char path[PATH_MAX], real[PATH_MAX];
    if (!size || size + sizeof "/hookwright" > sizeof path || folder[0] != '/') return 0;
    memcpy(path, folder, size);
    path[size] = 0;
    if (!realpath(path, real) || strlen(real) + sizeof "/hookwright" > sizeof program) return 0;
    strcpy(program, real);
    strcat(program, "/hookwright");
    if (!access(program, X_OK)) return 1;
    program[0] = 0;
    return 0;
}

static void find_program(void) {
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size > 0) {
        self[size] = 0;
        char *slash = strrchr(self, '/');
        if (slash && is_program(self, (size_t)(slash - self))) return;
    }
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (is_program(path, length)) return;
        path += length + (path[length] == ':');
    }
}

/* Return whether there is a place for the socket; the first variable that is set decides. */
static int find_place(void) {
    static const char *const where[][2] = {{"XDG_RUNTIME_DIR", "hookwright"},
                                           {"HOOKWRIGHT_STATE_DIR", "run"},
                                           {"XDG_STATE_HOME", "hookwright/run"},
                                           {"HOME", ".local/state/hookwright/run"}};
    uint64_t name = 0xcbf29ce484222325u;
    for (const unsigned char *at = (unsigned char *)program; *at; at++) name = (name ^ *at) * 0x100000001b3u;
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        const char *value = getenv(where[i][0]);
        if (!value || !*value) continue;
        if (*value != '/' || !program[0]) return 0;
        int size = snprintf(place, sizeof place, "%s/%s/%016llx.sock", value, where[i][1], (unsigned long long)name);
        return size > 0 && (size_t)size < sizeof place;
    }
    return 0;
}

/* Return whether the folder is this user's alone and the socket as well. */
static int is_private(void) {
    struct stat facts;
    char folder[sizeof place];
    strcpy(folder, place);
    *strrchr(folder, '/') = 0;
    if (lstat(folder, &facts) || !S_ISDIR(facts.st_mode) || facts.st_uid != geteuid() || facts.st_mode & 077) return 0;
    return !lstat(place, &facts) && S_ISSOCK(facts.st_mode) && facts.st_uid == geteuid() && !(facts.st_mode & 077);
}

static int is_own_peer(int fd) {
#ifdef SO_PEERCRED
    struct ucred peer;
    socklen_t size = sizeof peer;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
#else
    uid_t uid;
    gid_t gid;
    return !getpeereid(fd, &uid, &gid) && uid == geteuid();
#endif
}

static int connected(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!is_private()) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    strcpy(address.sun_path, place);
    /* Without blocking, a full queue is an error at once. */
    if (!connect(fd, (struct sockaddr *)&address, sizeof address) && is_own_peer(fd)) return fd;
    close(fd);
    return -1;
}

/* Return whether a daemon is running or starting: it holds the lock. */
static int is_locked(void) {
    char path[sizeof place];
    strcpy(path, place);
    strcpy(strrchr(path, '.'), ".lock");
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return 0;
    int locked = flock(fd, LOCK_EX | LOCK_NB) < 0;
    close(fd);
    return locked;
}

/* Start the daemon for the next time, with an environment of its own and none of our descriptors. */
static void start_daemon(void) {
    static const char *const kept[] = {"HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOOKWRIGHT_STATE_DIR"};
    if (is_locked() || access(program, X_OK)) return;
    pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0);
    if (child) return;
    if (setsid() < 0 || fork()) _exit(0);
    char *env[6] = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    int count = 1;
    for (char **at = environ; *at; at++) {
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
            size_t size = strlen(kept[i]);
            if (count < 5 && !strncmp(*at, kept[i], size) && (*at)[size] == '=') env[count++] = *at;
        }
    }
    env[count] = NULL;
    int null = open("/dev/null", O_RDWR);
    if (chdir("/") || null < 0) _exit(0);
    for (int fd = 0; fd < 3; fd++) dup2(null, fd);
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = 3; fd < (most > 0 && most < 4096 ? most : 4096); fd++) close(fd);
    char *argv[] = {program, "daemon", "start", NULL};
    execve(program, argv, env);
    _exit(0);
}

/* ── one request ─────────────────────────────────────────────────────────── */

/* Read stdin to its end; return -1 if it is silent and the command may not need it, or too long, or broken. */
static int read_input(const char *command) {
    struct stat facts;
    if (fstat(0, &facts)) return 0;
    if (strcmp(command, "hook")) {
        struct pollfd silent = {.fd = 0, .events = POLLIN};
        if (S_ISCHR(facts.st_mode)) return strcmp(command, "worker") ? 0 : -1;
        if (!strcmp(command, "fire") && (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode)) &&
            poll(&silent, 1, WAIT) <= 0)
            return -1;
    }
    was_read = 1;
    for (;;) {
        if (grow(&input, 1 << 16)) return -1;
        ssize_t n = read(0, input.data + input.size, 1 << 16);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            struct pollfd more = {.fd = 0, .events = POLLIN};
            poll(&more, 1, -1);
            continue;
        }
        if (n < 0) return -1;
        if (n == 0) return input.size > LONGEST ? -1 : 0;
        input.size += (size_t)n;
    }
}

static int write_request(struct bytes *message, char **argv) {
    char cwd[PATH_MAX];
    struct bytes body = {0};
    size_t count = 0, words = 0;
    for (char **at = environ; *at; at++) count++;
    for (char **at = argv + 1; *at; at++) words += strcmp(*at, "--fast") || !strcmp(argv[1], "worker");
    if (count > MOST || words > MOST || !getcwd(cwd, sizeof cwd) || append_number(&body, words)) return -1;
    for (char **at = argv + 1; *at; at++) {
        if (!strcmp(*at, "--fast") && strcmp(argv[1], "worker")) continue;
        if (append_string(&body, *at, strlen(*at))) return -1;
    }
    if (append_string(&body, cwd, strlen(cwd)) || append_number(&body, count)) return -1;
    for (char **at = environ; *at; at++) {
        if (append_string(&body, *at, strlen(*at))) return -1;
    }
    if (append_string(&body, input.data, input.size) || append_string(&body, "", 0) || body.size > LONGEST) return -1;
    if (append(message, MAGIC, sizeof MAGIC - 1) || append_number(message, body.size)) return -1;
    return append(message, body.data, body.size);
}

/* Send the request and collect the whole answer; return 0 with its status, stdout and stderr in `answer`. */
static int talk(int fd, const struct bytes *message, struct bytes *answer) {
    size_t sent = 0;
    int64_t until = now() + PATIENCE;
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN | (sent < message->size ? POLLOUT : 0)};
        int64_t left = until - now();
        int ready = poll(&wait, 1, left > 0 ? (int)left : 0);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return -1;
        if (wait.revents & POLLOUT) {
            ssize_t n = send(fd, message->data + sent, message->size - sent, MSG_NOSIGNAL);
            if (n < 0 && errno != EAGAIN && errno != EINTR) return -1;
            if (n > 0) {
                sent += (size_t)n;
                until = now() + PATIENCE;
            }
        }
        if (!(wait.revents & (POLLIN | POLLHUP | POLLERR))) continue;
        if (grow(answer, 1 << 16)) return -1;
        ssize_t n = recv(fd, answer->data + answer->size, 1 << 16, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (n <= 0) return -1;
        until = now() + SILENCE;
        answer->size += (size_t)n;
        size_t alive = 0; /* signs of life come before the answer */
        while (alive < answer->size && answer->data[alive] == '.') alive++;
        memmove(answer->data, answer->data + alive, answer->size -= alive);
        if (!answer->size) continue;
        if (answer->data[0] != '=') return -1;
        if (answer->size < 13) continue;
        size_t status = number(answer->data + 1), out = number(answer->data + 5), err = number(answer->data + 9);
        if (status > 255 || out > LONGEST || err > LONGEST || answer->size > 14 + out + err) return -1;
        if (answer->size < 14 + out + err) continue;
        return answer->data[13 + out + err] == '\n' && sent == message->size ? 0 : -1;
    }
}

static int write_all(int fd, const unsigned char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};
            poll(&room, 1, -1);
            continue;
        }
        if (n <= 0) return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

static int print(const struct bytes *answer, int is_hook) {
    size_t out = number(answer->data + 5), err = number(answer->data + 9);
    int lost = write_all(1, answer->data + 13, out);
    write_all(2, answer->data + 13 + out, err);
    if (lost && is_hook) {
        say("hookwright-client: the answer cannot be written\n");
        return REFUSED;
    }
    return (int)number(answer->data + 1);
}

int main(int argc, char **argv) {
    struct bytes message = {0}, answer = {0};
    began = now();
    find_program();
    if (argc < 2 || (strcmp(argv[1], "hook") && strcmp(argv[1], "fire") && strcmp(argv[1], "worker"))) return cold(argv);
    if (!find_place()) return cold(argv);
    if (is_private()) {
        if (read_input(argv[1])) return cold(argv);
        int fd = connected();
        if (fd >= 0 && !write_request(&message, argv) && !talk(fd, &message, &answer))
            return print(&answer, !strcmp(argv[1], "hook"));
        if (fd >= 0) close(fd);
    }
    start_daemon();
    return cold(argv);
}
