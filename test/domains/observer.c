/*
 * Records whom a process talks to: an LD_PRELOAD library for the tests of domains.
 *
 * It intercepts everything that starts talking to another socket or asks the system about a name, and appends a line
 * for each to the file OBSERVER_FILE, before the call is made:
 *
 *   to 127.0.0.1 53        a connection, or a datagram to this address and port
 *   lookup name            the system's own resolver was asked
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void note(const char *line) {
  const char *path = getenv("OBSERVER_FILE");
  if (path == NULL) return;
  int out = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
  /* If a line could not be kept, the test would believe that nothing happened. */
  if (out < 0 || write(out, line, strlen(line)) != (ssize_t)strlen(line)) abort();
  close(out);
}

static void note_address(const struct sockaddr *address) {
  char text[INET6_ADDRSTRLEN] = "", line[128];
  unsigned port;
  if (address == NULL) return;
  if (address->sa_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
    port = ntohs(four->sin_port);
  } else if (address->sa_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
    port = ntohs(six->sin6_port);
  } else {
    return;
  }
  snprintf(line, sizeof line, "to %s %u\n", text, port);
  note(line);
}

static void note_name(const char *name) {
  char line[512];
  snprintf(line, sizeof line, "lookup %.480s\n", name == NULL ? "" : name);
  note(line);
}

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

int connect(int fd, const struct sockaddr *address, socklen_t length) {
  note_address(address);
  return REAL(connect)(fd, address, length);
}

ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
  note_address(to);
  return REAL(sendto)(fd, bytes, size, flags, to, length);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  note_address(message->msg_name);
  return REAL(sendmsg)(fd, message, flags);
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags) {
  for (unsigned int at = 0; at < count; at += 1) note_address(messages[at].msg_hdr.msg_name);
  return REAL(sendmmsg)(fd, messages, count, flags);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  note_name(name);
  return REAL(getaddrinfo)(name, service, hints, found);
}

struct hostent *gethostbyname(const char *name) {
  note_name(name);
  return REAL(gethostbyname)(name);
}
