/*
 * A failing disk: an LD_PRELOAD library for the fault tests.
 *
 * It wraps getaddrinfo, and fsync, fdatasync, pread and pwrite only for files in the folder SHIM_ROOT. SQLite calls fsync; fdatasync is the store's own sync
 * of the log.
 *
 *   SHIM_SLOW_FLAG while a file exists at this path, every call takes 150 ms longer, as on a slow disk. Each on the event loop
 *                  adds a byte to <flag>.loop.
 *   SHIM_FAIL_FLAG while a file exists at this path, every call fails with EIO, as on a broken disk.
 *   SHIM_FAIL_ONCE the call that finds a file at this path takes it away and fails.
 *   SHIM_READ_FLAG while a file exists at this path, every read of the database and its log fails with EIO.
 *   SHIM_HOLD_FLAG while a file exists at this path, the store's own syncs wait. Each adds a byte to <flag>.reached when it begins to, and
 *                  whichever finds <flag>.pass takes that file away and goes on alone.
 *   SHIM_WRITE_FLAG while a file exists at this path, every write to the log waits, as with SHIM_HOLD_FLAG.
 *   SHIM_NAMES_FLAG while a file exists at this path, every look-up of a name waits, and then fails. Each adds a byte to <flag>.reached.
 *   SHIM_UNSYNCED_CHECKPOINTS  a seeded defect: SQLite's own syncs of the log do nothing.
 *   SHIM_IMAGES    before and after each call (moment N), what a power cut could leave is kept in this folder:
 *                    N.<name>.current  every database file as it is now, durable or not
 *                    N.<name>.synced   after a call that succeeded: what of the file is durable
 *                    N.names           the names in the folder, when the call was for the folder itself
 *                  and "moment N" is appended to SHIM_LEDGER, where the process under test also appends what it was
 *                  promised, so that the order of promises and syncs is known.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long moments;

/* Whether the open file is in SHIM_ROOT; `name` becomes its name there, or "" for the folder itself. */
static int is_ours(int fd, char *name, size_t size) {
  const char *root = getenv("SHIM_ROOT");
  char link[64], path[4096];
  if (root == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  size_t root_length = strlen(root);
  if (strncmp(path, root, root_length) != 0) return 0;
  if (path[root_length] == 0) {
    name[0] = 0;
    return 1;
  }
  if (path[root_length] != '/') return 0;
  snprintf(name, size, "%s", path + root_length + 1);
  return 1;
}

static void copy_file(const char *from, const char *to) {
  char block[65536];
  int in = open(from, O_RDONLY);
  if (in < 0) return;
  int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ssize_t got;
  while (out >= 0 && (got = read(in, block, sizeof block)) > 0)
    if (write(out, block, got) != got) abort();
  close(in);
  if (out >= 0) close(out);
}

static int ends_with(const char *name, const char *end) {
  size_t length = strlen(name), end_length = strlen(end);
  return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

static int is_database_file(const char *name) {
  return strstr(name, ".db") != NULL && !ends_with(name, ".db-shm");
}

static void keep_files(const char *root, const char *images) {
  char from[8192], to[8192];
  struct dirent *entry;
  DIR *folder = opendir(root);
  if (folder == NULL) abort();
  while ((entry = readdir(folder)) != NULL) {
    if (!is_database_file(entry->d_name)) continue;
    snprintf(from, sizeof from, "%s/%s", root, entry->d_name);
    snprintf(to, sizeof to, "%s/%lu.%s.current", images, moments, entry->d_name);
    copy_file(from, to);
  }
  closedir(folder);
}

static void keep_names(const char *root, const char *images) {
  char path[8192];
  struct dirent *entry;
  snprintf(path, sizeof path, "%s/%lu.names", images, moments);
  FILE *names = fopen(path, "w");
  DIR *folder = opendir(root);
  if (names == NULL || folder == NULL) abort();
  while ((entry = readdir(folder)) != NULL)
    if (is_database_file(entry->d_name)) fprintf(names, "%s\n", entry->d_name);
  closedir(folder);
  fclose(names);
}

static ssize_t read_real(int fd, void *into, size_t size) {
  ssize_t (*real)(int, void *, size_t, off_t) = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread64");
  return real(fd, into, size, 0);
}

/* What of a file is durable, page by page: what was written before a sync that succeeded. A sync that fails loses what it was to keep,
 * and later ones that succeed do not bring it back, as the system may have it. */
#define PAGE 4096
#define PAGES 4096
struct durable {
  char name[64];
  ino_t inode;
  size_t size;
  unsigned char *bytes;
  unsigned char is_dirty[PAGES];
  /* That is syncing it. */
  unsigned long call[PAGES], sized_by;
};
static struct durable files[4];
static unsigned long calls;

static int is_modelled(const char *name) {
  return getenv("SHIM_IMAGES") != NULL && (ends_with(name, ".db") || ends_with(name, "-wal"));
}

/* A file that was made anew holds nothing that is durable. */
static struct durable *durable_of(int fd, const char *name) {
  struct stat now;
  if (fstat(fd, &now) != 0) abort();
  for (int n = 0; n < 4; n += 1) {
    if (files[n].bytes != NULL && strcmp(files[n].name, name) != 0) continue;
    if (files[n].bytes == NULL) files[n].bytes = calloc(PAGES, PAGE);
    if (files[n].inode != now.st_ino) {
      unsigned char *bytes = files[n].bytes;
      memset(&files[n], 0, sizeof files[n]);
      memset(bytes, 0, (size_t)PAGES * PAGE);
      files[n].bytes = bytes;
      files[n].inode = now.st_ino;
      snprintf(files[n].name, sizeof files[n].name, "%s", name);
    }
    return &files[n];
  }
  abort();
}

static void note_write(int fd, const char *name, size_t size, off_t at) {
  if (!is_modelled(name)) return;
  pthread_mutex_lock(&lock);
  struct durable *file = durable_of(fd, name);
  if ((size_t)at + size > (size_t)PAGES * PAGE) abort();
  for (size_t page = at / PAGE; page * PAGE < at + size; page += 1) file->is_dirty[page] = 1;
  pthread_mutex_unlock(&lock);
}

struct sync {
  unsigned long call;
  off_t size;
  unsigned char *bytes;
};

/* The runtime's own writes are not seen here. It writes to the log only to write it over itself, by a file that is opened for that. */
static int is_written_anew(int fd, int is_own) {
  static int log = -1;
  if (is_own && log == -1) log = fd;
  return is_own && fd != log;
}

/* Takes what was written until now, and what another call is syncing still. */
static struct sync begin_sync(int fd, const char *name, int is_own) {
  struct sync begun = {0, 0, NULL};
  struct stat now;
  if (!is_modelled(name)) return begun;
  pthread_mutex_lock(&lock);
  struct durable *file = durable_of(fd, name);
  if (fstat(fd, &now) != 0) abort();
  begun.call = ++calls;
  begun.size = now.st_size;
  begun.bytes = calloc(PAGES, PAGE);
  if (read_real(fd, begun.bytes, (size_t)PAGES * PAGE) < 0) abort();
  int is_anew = is_written_anew(fd, is_own);
  for (int page = 0; page < PAGES; page += 1) {
    if (!is_anew && !file->is_dirty[page] && file->call[page] == 0) continue;
    file->is_dirty[page] = 0;
    file->call[page] = begun.call;
  }
  pthread_mutex_unlock(&lock);
  return begun;
}

static void end_sync(int fd, const char *name, struct sync begun, int is_kept) {
  if (begun.bytes == NULL) return;
  pthread_mutex_lock(&lock);
  struct durable *file = durable_of(fd, name);
  for (int page = 0; page < PAGES; page += 1) {
    if (file->call[page] != begun.call) continue;
    file->call[page] = 0;
    if (is_kept) memcpy(file->bytes + (size_t)page * PAGE, begun.bytes + (size_t)page * PAGE, PAGE);
  }
  /* One that began later may have ended before. */
  if (is_kept && begun.call > file->sized_by) {
    file->size = begun.size;
    file->sized_by = begun.call;
  }
  free(begun.bytes);
  pthread_mutex_unlock(&lock);
}

static void keep_durable(const char *to, const char *name) {
  for (int n = 0; n < 4; n += 1) {
    if (files[n].bytes == NULL || strcmp(files[n].name, name) != 0) continue;
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || write(out, files[n].bytes, files[n].size) != (ssize_t)files[n].size) abort();
    close(out);
  }
}

/* A moment of a call for the file `name`; `since` is that at which the call began, 0 if it begins now. Returns its number. */
static unsigned long keep_moment(const char *name, unsigned long since) {
  const char *root = getenv("SHIM_ROOT"), *images = getenv("SHIM_IMAGES"), *ledger = getenv("SHIM_LEDGER");
  char line[64], from[8192], to[8192];
  if (images == NULL || ledger == NULL) return 0;
  pthread_mutex_lock(&lock);
  moments += 1;
  keep_files(root, images);
  if (since != 0 && name[0] == 0) keep_names(root, images);
  if (since != 0 && is_modelled(name)) {
    snprintf(to, sizeof to, "%s/%lu.%s.synced", images, moments, name);
    keep_durable(to, name);
  } else if (since != 0 && name[0] != 0 && is_database_file(name)) {
    snprintf(from, sizeof from, "%s/%lu.%s.current", images, since, name);
    snprintf(to, sizeof to, "%s/%lu.%s.synced", images, moments, name);
    copy_file(from, to);
  }
  unsigned long number = moments;
  int out = open(ledger, O_WRONLY | O_APPEND);
  int length = snprintf(line, sizeof line, "moment %lu\n", number);
  if (out < 0 || write(out, line, length) != length) abort();
  close(out);
  pthread_mutex_unlock(&lock);
  return number;
}

static void add_byte(const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0 || write(file, ".", 1) != 1) abort();
  close(file);
}

/* Until the flag is taken away, or this call alone may pass. */
static void hold(const char *flag) {
  char reached[4096], pass[4096];
  if (access(flag, F_OK) != 0) return;
  snprintf(reached, sizeof reached, "%s.reached", flag);
  snprintf(pass, sizeof pass, "%s.pass", flag);
  add_byte(reached);
  while (access(flag, F_OK) == 0 && unlink(pass) != 0) usleep(500);
}

static int synchronise(int fd, const char *function) {
  char name[4096];
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, function);
  if (!is_ours(fd, name, sizeof name)) return real(fd);
  int is_own = strcmp(function, "fdatasync") == 0;
  const char *slow = getenv("SHIM_SLOW_FLAG"), *fail = getenv("SHIM_FAIL_FLAG"), *held = getenv("SHIM_HOLD_FLAG");
  if (!is_own && ends_with(name, "-wal") && getenv("SHIM_UNSYNCED_CHECKPOINTS") != NULL) return 0;
  unsigned long since = keep_moment(name, 0);
  struct sync begun = begin_sync(fd, name, is_own);
  if (slow != NULL && access(slow, F_OK) == 0) {
    char on_loop[4096];
    snprintf(on_loop, sizeof on_loop, "%s.loop", slow);
    if (gettid() == getpid()) add_byte(on_loop);
    usleep(150000);
  }
  if (is_own && held != NULL) hold(held);
  const char *once = getenv("SHIM_FAIL_ONCE");
  int is_failing = (fail != NULL && access(fail, F_OK) == 0) || (once != NULL && unlink(once) == 0);
  int result = is_failing ? -1 : real(fd);
  end_sync(fd, name, begun, result == 0);
  if (result == 0) keep_moment(name, since);
  else if (is_failing) errno = EIO;
  return result;
}

static ssize_t read_at(int fd, void *into, size_t size, off_t at, const char *function) {
  char name[4096];
  const char *fail = getenv("SHIM_READ_FLAG");
  if (fail != NULL && access(fail, F_OK) == 0 && is_ours(fd, name, sizeof name) && is_database_file(name)) {
    errno = EIO;
    return -1;
  }
  ssize_t (*real)(int, void *, size_t, off_t) =
      (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, function);
  return real(fd, into, size, at);
}

static ssize_t write_at(int fd, const void *from, size_t size, off_t at, const char *function) {
  char name[4096];
  const char *flag = getenv("SHIM_WRITE_FLAG");
  if (flag != NULL && access(flag, F_OK) == 0 && is_ours(fd, name, sizeof name) && ends_with(name, "-wal")) hold(flag);
  ssize_t (*real)(int, const void *, size_t, off_t) =
      (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, function);
  ssize_t written = real(fd, from, size, at);
  if (written > 0 && is_ours(fd, name, sizeof name)) note_write(fd, name, written, at);
  return written;
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at) { return write_at(fd, from, size, at, "pwrite"); }
ssize_t pwrite64(int fd, const void *from, size_t size, off_t at) { return write_at(fd, from, size, at, "pwrite64"); }
ssize_t pread(int fd, void *into, size_t size, off_t at) { return read_at(fd, into, size, at, "pread"); }
ssize_t pread64(int fd, void *into, size_t size, off_t at) { return read_at(fd, into, size, at, "pread64"); }
int fsync(int fd) { return synchronise(fd, "fsync"); }
int fdatasync(int fd) { return synchronise(fd, "fdatasync"); }

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
      (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
  const char *flag = getenv("SHIM_NAMES_FLAG");
  if (flag != NULL && access(flag, F_OK) == 0) {
    hold(flag);
    return EAI_NONAME;
  }
  return real(name, service, hints, found);
}
