// A link that takes its time: passes on what comes over a socket to another one, after half of the given time, and the answers
// likewise. It should cost next to nothing itself: servers and links share the machine's processors.
// usage: relay LISTEN_PATH TARGET_PATH MILLISECONDS_THERE_AND_BACK
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace {

constexpr int64_t kSecond = 1000000000;

int64_t Now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
}

[[noreturn]] void Fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

sockaddr_un AddressOf(const char* path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

// Bytes on their way; none: the end.
struct Chunk {
    int64_t due;
    int to;
    std::string bytes;
};

struct End {
    int socket;
    int other;
    bool open;
};

void Deliver(const Chunk& chunk) {
    if (chunk.bytes.empty()) {
        shutdown(chunk.to, SHUT_WR);
        return;
    }
    for (size_t sent = 0; sent < chunk.bytes.size();) {
        const ssize_t now = write(chunk.to, chunk.bytes.data() + sent, chunk.bytes.size() - sent);
        if (now <= 0)
            return;
        sent += static_cast<size_t>(now);
    }
}

void Connect(int listener, const char* target, std::vector<End>* ends) {
    const int from = accept(listener, nullptr, nullptr), to = socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = AddressOf(target);
    if (from < 0 || to < 0 || connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        Fail("cannot connect");
    ends->push_back({from, to, true});
    ends->push_back({to, from, true});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 1;
    const int64_t delay = std::atoll(argv[3]) * kSecond / 2000;
    std::signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1000);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = AddressOf(argv[1]);
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, 10) != 0)
        Fail("cannot listen");
    chmod(argv[1], 0777);
    std::deque<Chunk> waiting;  // in the order of time
    std::vector<End> ends;
    std::vector<char> buffer(1 << 20);
    for (;;) {
        for (; !waiting.empty() && waiting.front().due <= Now(); waiting.pop_front())
            Deliver(waiting.front());
        std::vector<pollfd> polled{{listener, POLLIN, 0}};
        for (const End& end : ends)
            polled.push_back({end.open ? end.socket : -1, POLLIN, 0});
        const int64_t left = waiting.empty() ? 0 : std::max<int64_t>(waiting.front().due - Now(), 0);
        const timespec timeout{left / kSecond, left % kSecond};
        if (ppoll(polled.data(), polled.size(), waiting.empty() ? nullptr : &timeout, nullptr) <= 0)
            continue;
        for (size_t i = 0; i < ends.size(); ++i) {
            if (polled[i + 1].revents == 0)
                continue;
            const ssize_t size = read(ends[i].socket, buffer.data(), buffer.size());
            ends[i].open = size > 0;
            waiting.push_back({Now() + delay,
                               ends[i].other,
                               {buffer.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))}});
        }
        if (polled[0].revents != 0)
            Connect(listener, argv[2], &ends);
    }
}
